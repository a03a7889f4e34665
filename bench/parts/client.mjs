// A small HTTP client over kept connections: what it costs must not hide what the service costs.
import { Agent, request } from 'node:http';

/** @param {string} baseUrl @param {Record<string, string>} headers sent with each call */
export function openClient(baseUrl, headers = {}, connections = 64) {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });

  function call(method, path, body) {
    return new Promise((resolve, reject) => {
      const text = body === undefined ? undefined : JSON.stringify(body);
      const url = new URL(path, baseUrl);
      const asked = request(url, {
        method,
        agent,
        headers:
          text === undefined
            ? headers
            : { ...headers, 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) },
      });
      asked.on('error', reject);
      asked.on('response', (response) => {
        const chunks = [];
        response.on('data', (chunk) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => resolve({ status: response.statusCode, body: Buffer.concat(chunks) }));
      });
      asked.end(text);
    });
  }

  return {
    call,
    /** The JSON of an answer that must have the status; throws with what was said otherwise. */
    async expect(status, method, path, body) {
      const answer = await call(method, path, body);
      if (answer.status !== status)
        throw new Error(`${method} ${path}: ${answer.status} ${answer.body.toString().slice(0, 500)}`);
      return JSON.parse(answer.body.toString());
    },
    close: () => agent.destroy(),
  };
}

/** Runs `work(i)` for 0 … count−1 with so many at a time. */
export async function inFlight(count, width, work) {
  let next = 0;
  const lane = async () => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: Math.min(width, count) }, lane));
}
