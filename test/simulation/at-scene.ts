/** A company under the cash VAT scheme, a service that logs everything, and the tax authority that fails it. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Wire } from '../client.ts';
import { type Authority, authorityOf } from './authority.ts';
import { type Ground, openGround, type Running, type SimCompany } from './ground.ts';

export interface Scene {
  readonly ground: Ground;
  readonly service: Running;
  /** The service, by clients that look at every answer. */
  readonly wire: Wire;
  readonly company: SimCompany;
  readonly at: Authority;
  readonly username: string;
  /** `certo` with arguments of this company; what it said is looked at. */
  command(args: readonly string[]): Promise<{ code: number | null; out: string }>;
  /**
   * Sets the password, here and at the AT. Ends once the service has compared series by it, as it does with each new one:
   * by what a fault answers to that, a series may be missing, and issuing stops.
   */
  credentials(): Promise<number | null>;
  /** Puts what waits among what is due, until nothing waits or a minute has brought nothing; then real time again. */
  drain(): Promise<void>;
  /** What must not have been said, with where it was found. */
  leaks(): string[];
}

/** Nobody but the AT is to see this. */
const password = 'Segredo-9f3c1d-do-portal';
const secret = new RegExp(`${password}|${Buffer.from(password).toString('base64').slice(0, 20)}|<wss:|Nonce`);
/** What a faulty AT writes: nothing of it is for callers or operators. */
const strange =
  /Internal Server Error|Service Unavailable|SSH-2\.0|elsewhere|root:|lollol|<html|<h1>|env:Envelope|CodigoResposta/;

export async function openScene(): Promise<Scene> {
  const ground = await openGround();
  const service = await ground.serve({ environment: { CERTO_LOG_LEVEL: 'debug' } });
  const company = await ground.company();
  const at = await authorityOf(ground.directory);
  const found = new Set<string>();
  const look = (where: string, text: string): void => {
    if (secret.test(text)) found.add(`a secret stands in ${where}`);
    const said = strange.exec(text);
    if (said !== null) found.add(`what the AT wrote (${said[0]}) stands in ${where}`);
  };
  const command: Scene['command'] = async (args) => {
    const { code, out, err } = await ground.run([...args, '--json']);
    look(`the output of certo ${args.slice(0, 2).join(' ')}`, out + err);
    return { code, out };
  };
  const file = join(ground.directory, 'sub-user');
  writeFileSync(file, `${password}\n`, { mode: 0o600 });
  const username = `${company.taxpayerNumber}/1`;
  const nif = company.taxpayerNumber;
  const scene: Scene = {
    ground,
    service,
    company,
    at,
    username,
    wire: {
      async send(sent) {
        const answer = await service.wire.send<never>(sent);
        look(`the answer to ${sent.method} ${sent.path.replace(/[0-9a-f-]{36}/, ':id')}`, answer.text);
        return answer;
      },
      close: () => service.wire.close(),
    },
    command,
    async credentials() {
      await at.password(username, password);
      const { code } = await command(['company', 'credentials', nif, '--username', username, '--password-file', file]);
      await compared(ground, company);
      return code;
    },
    drain: () => drain(ground),
    leaks() {
      look('the log', service.said());
      return [...found];
    },
  };
  await must(scene, ['series', 'register', '--company', nif, '--all-types', '--cash-vat', '--code', 'IVACX']);
  await must(scene, ['company', 'cash-vat', nif, '--from', '2020-01-01']);
  if ((await scene.credentials()) !== 0) throw new Error('the credentials of the scene are not accepted');
  return scene;
}

/** Waits until nothing is due of what the service asks about the company's series. */
async function compared({ owner }: Ground, { id }: SimCompany): Promise<void> {
  const due = `select 1 from certo.companies where id = $1 and at_sync_next_at <= certo.now() + interval '1 hour'`;
  for (let until = performance.now() + patience_ms; performance.now() < until; await sleep(20)) {
    if ((await owner.query(due, [id])).rows.length === 0) return;
  }
  throw new Error('series were not compared within a minute of new credentials');
}

async function must({ command }: Scene, args: readonly string[]): Promise<void> {
  const { code, out } = await command(args);
  if (code !== 0) throw new Error(`certo ${args.join(' ')} ended with ${code}: ${out}`);
}

/** Longer than the longest wait of a report, and than its lease. */
const step_ms = 400_000;
const patience_ms = 60_000;

async function drain(ground: Ground): Promise<void> {
  let shift = 0;
  let before = -1;
  for (let until = performance.now() + patience_ms; performance.now() < until; ) {
    const { rows } = await ground.owner.query<{ waiting: number; due: number }>(
      `select count(*)::int as waiting, count(*) filter (where at_next_at is null or at_next_at <= certo.now() or at_lease is not null)::int as due
       from certo.documents where at_status = 'PENDING'`,
    );
    const { waiting, due } = rows[0]!;
    if (waiting === 0) break;
    if (waiting !== before) until = performance.now() + patience_ms;
    before = waiting;
    if (due === 0) {
      shift += step_ms;
      await ground.shiftClock(shift);
    }
    await sleep(20);
  }
  await ground.shiftClock(0);
}
