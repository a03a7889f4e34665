// Other processes of a row: asked by IPC, ended at the end of it.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** Starts a part in a process of its own. */
export function start(part) {
  const child = fork(fileURLToPath(new URL(part, import.meta.url)));
  return {
    async ask(question) {
      const answer = Promise.race([
        once(child, 'message').then(([message]) => message),
        once(child, 'exit').then(([code]) => Promise.reject(new Error(`${part} ended with ${code}`))),
      ]);
      if (question !== undefined) child.send(question);
      return await answer;
    },
    stop: () => child.kill(),
  };
}
