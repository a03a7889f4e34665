/** A check of the books holds a portion at a time, however long the documents are, and looks at each of them once. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Db, Row } from '../../src/db/transact.ts';
import { booksSeal, masterKey } from '../../src/keys/sealing.ts';
import { type Finding, verifyCompany } from '../../src/operations/verify/verify-series.ts';
import { type Service, startService, type TestCompany } from '../service.ts';

let service: Service;
let A: TestCompany;

beforeAll(async () => {
  service = await startService({ companies: ['A'] });
  ({ A } = service.companies);
});
afterAll(() => service.stop('tampered'));

interface Portion {
  readonly documents: number;
  readonly bytes: number;
  /** Of the longest document. */
  readonly longest: number;
}

/** What came of the documents of its series, statement by statement, and what was found. */
async function checked(piece: number): Promise<{ portions: Portion[]; counted: number; findings: Finding[] }> {
  const portions: Portion[] = [];
  const findings: Finding[] = [];
  let counted = 0;
  const portionOf = (rows: readonly Row[]): Portion => {
    const sizes = rows.map((row) => JSON.stringify(row).length);
    return {
      documents: rows.length,
      bytes: sizes.reduce((sum, size) => sum + size, 0),
      longest: Math.max(...sizes),
    };
  };
  const db: Pick<Db, 'read'> = {
    read(entry, how) {
      const tx = service.db.read(entry, how);
      return {
        ...tx,
        async query(query, values) {
          const rows = await tx.query(query, values);
          if ('name' in query && query.name.startsWith('verify_piece') && rows.length > 0)
            portions.push(portionOf(rows));
          return rows as never;
        },
      };
    },
  };
  const publicKeys = async () => [{ version: 1, publicPem: service.publicPem }];
  await verifyCompany({ db, publicKeys, seal: booksSeal(masterKey(Buffer.from(service.masterKeyHex, 'hex'))) }, A.id, {
    piece,
    found: (finding) => void findings.push(finding),
    done: (documents) => {
      counted += documents;
    },
  });
  return { portions, counted, findings };
}

const documentsIn = (portions: readonly Portion[]) => portions.map(({ documents }) => documents);

test('short documents are read as many at a time as it is told to', async () => {
  const item = await A.item();
  const customerId = (await A.customer()).id;
  for (let i = 0; i < 23; i++) await A.issue(await A.draft({ customerId, items: [{ id: item.id, quantity: 1 }] }));
  const { portions, counted, findings } = await checked(10);
  expect({ read: documentsIn(portions), counted, findings }).toEqual({ read: [10, 10, 3], counted: 23, findings: [] });
});

test('of long documents a portion has two MiB, and the one that reaches beyond', async () => {
  const item = await A.item({ description: 'x'.repeat(2000) });
  const customerId = (await A.customer()).id;
  const items = Array.from({ length: 300 }, () => ({ id: item.id, quantity: 1 }));
  for (let i = 0; i < 8; i++) await A.issue(await A.draft({ customerId, items }));
  await A.issue(await A.draft({ customerId, items: [{ id: item.id, quantity: 1 }] }));
  for (const piece of [10, 100]) {
    const { portions, counted, findings } = await checked(piece);
    const longest = Math.max(...portions.map((portion) => portion.longest));
    expect(longest).toBeGreaterThan(600_000);
    expect(Math.max(...portions.map(({ bytes }) => bytes))).toBeLessThan(2 * 1024 * 1024 + 2 * longest);
    // A document of each portion at least; none is left out.
    expect({ counted, findings }).toEqual({ counted: 32, findings: [] });
    expect(documentsIn(portions).reduce((sum, count) => sum + count, 0)).toBe(32);
  }
});

test('what was changed in a long document behind the end of a portion is found', async () => {
  await service.owner.query('alter table certo.documents disable trigger user');
  const { rows } = await service.owner.query(
    `update certo.documents set notes = 'x' where company_id = $1 and sequence in (27, 31) returning number`,
    [A.id],
  );
  await service.owner.query('alter table certo.documents enable trigger user');
  const { findings } = await checked(10);
  expect(new Set(findings.map(({ number }) => number))).toEqual(new Set(rows.map(({ number }) => number)));
});

test('a number that no double holds is read once', async () => {
  const beyond = '9007199254740993';
  await service.owner.query('alter table certo.documents disable trigger user');
  await service.owner.query('alter table certo.series disable trigger user');
  await service.owner.query(`update certo.documents set sequence = $2 where company_id = $1 and sequence = 32`, [
    A.id,
    beyond,
  ]);
  await service.owner.query(`update certo.series set last_number = $2 where company_id = $1 and id = $3`, [
    A.id,
    '9007199254740995',
    A.series.INVOICE.id,
  ]);
  const { counted, findings } = await checked(10);
  expect(counted).toBe(32);
  expect(findings.map(({ problem }) => problem).join('\n')).toMatch(/there is a gap/);
});
