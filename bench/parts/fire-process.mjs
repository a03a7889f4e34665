// A process of its own that fires, told by IPC. Two kinds of rounds: requests that are all known beforehand, and drafts
// that are made and issued one after the other by each client.
import { randomUUID } from 'node:crypto';
import { fire, requestBytes } from './fire.mjs';
import { latencyFigures } from './statistics.mjs';

process.on('message', async ({ kind, port, width, headers, requests, keep }) => {
  try {
    const { next, done } = kind === 'prepared' ? prepared(headers, requests, keep) : createAndIssue(headers, requests);
    const { seconds, latencies } = await fire({ port, width, next });
    process.send({ seconds, perSecond: requests.length / seconds, made: done, ...latencyFigures(latencies) });
  } catch (error) {
    process.send({ failed: error.message });
  }
});

/** `requests`: { path, body }. With `keep`, id and revision of each answer are kept. */
function prepared(headers, requests, keep) {
  const all = requests.map(({ path, body }) => requestBytes({ method: 'POST', path, body, headers: keyed(headers) }));
  const done = [];
  let at = 0;
  return {
    done,
    next(_lane, answer) {
      if (answer !== undefined && keep) done.push(revisionOf(answer));
      return all[at++];
    },
  };
}

/** `requests`: bodies of drafts. Each client creates one, reads the answer, issues it, and takes the next. */
function createAndIssue(headers, bodies) {
  const creates = bodies.map((body) =>
    requestBytes({ method: 'POST', path: '/invoices', body, headers: keyed(headers) }),
  );
  const creating = new Set();
  let at = 0;
  return {
    done: [],
    next(lane, answer) {
      if (answer !== undefined && creating.delete(lane)) {
        const { id, updatedAt } = revisionOf(answer);
        const body = { expectedUpdatedAt: updatedAt };
        return requestBytes({ method: 'POST', path: `/invoices/${id}/issue`, body, headers: keyed(headers) });
      }
      creating.add(lane);
      return creates[at++];
    },
  };
}

const keyed = (headers) => ({ ...headers, 'idempotency-key': randomUUID() });

function revisionOf({ body }) {
  const { id, updatedAt } = JSON.parse(body.toString());
  return { id, updatedAt };
}
