// Other processes of a row: asked by IPC, ended at the end of it.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** Starts a part in a process of its own. */
export function start(part) {
  const child = fork(fileURLToPath(new URL(part, import.meta.url)));
  let refuse = () => undefined;
  child.once('exit', (code) => refuse(new Error(`${part} ended with ${code}`)));
  return {
    /** Sends the question, if there is one, and resolves with the next message. */
    async ask(question) {
      const ended = new Promise((_, reject) => {
        refuse = reject;
      });
      const answer = once(child, 'message').then(([message]) => message);
      if (question !== undefined) child.send(question);
      return await Promise.race([answer, ended]);
    },
    stop: () => child.kill(),
  };
}
