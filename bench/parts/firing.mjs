// Rounds of a firing process: drafts through the API, then their issue, each request with a key of its own.
import { start } from './children.mjs';

/** A process that fires at a service: { port, apiKey, draftBody(i) }. */
export function openFiring({ port, apiKey, draftBody }) {
  const child = start('fire-process.mjs');
  const headers = { 'x-api-key': apiKey };
  let made = 0;
  const bodies = (count) => Array.from({ length: count }, () => draftBody(made++));

  async function ask(question) {
    const answer = await child.ask({ port, headers, ...question });
    if (answer.failed !== undefined) throw new Error(answer.failed);
    return answer;
  }

  return {
    /** Drafts as { id, updatedAt }. */
    async drafts(count, width = 32) {
      const requests = bodies(count).map((body) => ({ path: '/invoices', body }));
      return (await ask({ kind: 'prepared', width, requests, keep: true })).made;
    },
    /** Issues each draft once: { perSecond, p50_ms, p99_ms, longest_ms, histogram }. */
    async issue(drafts, width) {
      const requests = drafts.map(({ id, updatedAt }) => ({
        path: `/invoices/${id}/issue`,
        body: { expectedUpdatedAt: updatedAt },
      }));
      return await ask({ kind: 'prepared', width, requests });
    },
    /** Each client creates a draft and issues it, and again: `perSecond` counts pairs. */
    async createAndIssue(count, width) {
      return await ask({ kind: 'create and issue', width, requests: bodies(count) });
    },
    stop: () => child.stop(),
  };
}
