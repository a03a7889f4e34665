/** Two services on one database; one that is killed comes up again, and the other goes on meanwhile. */
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, openWire, type Sent } from '../../client.ts';
import type { Ground, Running } from '../ground.ts';

export type Place = 0 | 1;

export interface Fleet {
  /** The answer; undefined when the connection broke because the service was killed. Throws when it broke by itself. */
  send<T>(place: Place, sent: Sent): Promise<Answer<T> | undefined>;
  /** Sends it and hangs up so many milliseconds later, whatever happens meanwhile. */
  sendAndHangUp(place: Place, sent: Sent, after: number): Promise<void>;
  /** Until the service has taken up what reached it before, also on connections that are cut by now. */
  drain(place: Place, headers: Sent['headers']): Promise<void>;
  /** SIGKILL; the service starts again. */
  kill(place: Place): void;
  /** How often services were killed. */
  readonly kills: number;
}

export async function openFleet(ground: Ground): Promise<Fleet> {
  const serve = (): Promise<Running> => ground.serve({ through: ground.connection });
  const first = await ground.serve();
  const places: [Promise<Running>, Promise<Running>] = [Promise.resolve(first), serve()];
  const killed = new Set<Running>();
  let kills = 0;
  return {
    get kills() {
      return kills;
    },
    async send<T>(place: Place, sent: Sent) {
      const service = await places[place];
      try {
        return await service.wire.send<T>(sent);
      } catch (error) {
        if (killed.has(service)) return undefined;
        throw new Error(`a service that was not killed gave no answer: ${String(error)}\n${service.said()}`);
      }
    },
    async sendAndHangUp(place, sent, after) {
      const service = await places[place];
      await hangUp(service.port, sent, after);
    },
    async drain(place, headers = {}) {
      // Connections are taken up in the order they came; each answer comes from the database.
      for (let times = 0; times < 2; times += 1) {
        const wire = openWire((await places[place]).port, 1);
        await wire.send({ method: 'GET', path: '/company', headers }).catch(() => undefined);
        wire.close();
      }
    },
    kill(place) {
      places[place] = places[place].then(async (service) => {
        killed.add(service);
        kills += 1;
        await service.kill();
        return serve();
      });
    },
  };
}

/** The bytes of a request on a connection of its own, which is closed before anybody reads the answer. */
async function hangUp(port: number, { method, path, headers = {}, body = '' }: Sent, after: number): Promise<void> {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${String(value)}`);
  const head = [`${method} ${path} HTTP/1.1`, 'host: certo', `content-length: ${Buffer.byteLength(body)}`, ...lines];
  const socket = connect({ host: '127.0.0.1', port });
  socket.on('error', () => undefined);
  socket.write(`${head.join('\r\n')}\r\n\r\n${String(body)}`);
  // Nothing sent yet, sent, or answered already: every length is worth trying.
  await sleep(after);
  socket.destroy();
}
