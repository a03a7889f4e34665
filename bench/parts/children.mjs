// Other processes of a row: asked by IPC, ended at the end of it.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { atEnd } from './service.mjs';

/** Starts a part, or another program of bench/, in a process of its own; `environment` is added to this one's. */
export function start(part, environment = {}) {
  const child = fork(fileURLToPath(new URL(part, import.meta.url)), { env: { ...process.env, ...environment } });
  const ended = once(child, 'exit').then(([code, signal]) => {
    throw new Error(`${part} ended with ${code ?? signal}`);
  });
  // It matters to whoever asks, and at the end to nobody.
  ended.catch(() => undefined);
  const stop = () => {
    child.kill();
  };
  atEnd(stop);
  return {
    pid: child.pid,
    /** Sends the question, if there is one, and resolves with the next message. */
    async ask(question) {
      const answer = once(child, 'message').then(([message]) => message);
      if (question !== undefined) child.send(question);
      return await Promise.race([answer, ended]);
    },
    stop,
  };
}
