/** What a DATABASE_URL has to look like, judged without connecting. */

/** What is said of one that is none: never the text, which can hold a password. */
const wrongAddress =
  'DATABASE_URL is not an address of the form postgres://user:password@host:5432/database (special characters in the password as %XX).';

const wrongPort = 'The port in DATABASE_URL must be a whole number from 1 to 65535.';

/** What is wrong with it, in a sentence that does not repeat it; undefined when nothing is. */
export function addressProblem(text: string): string | undefined {
  const url = readAddress(text);
  if (url === undefined) return wrongAddress;
  // libpq takes the port of the query before the other one. An empty one is none.
  const ports = [url.port, ...url.searchParams.getAll('port')].filter((port) => port !== '');
  return ports.every((port) => /^\d{1,5}$/.test(port) && Number(port) >= 1 && Number(port) <= 65_535)
    ? undefined
    : wrongPort;
}

/** Undefined when it is no address of a PostgreSQL server. */
export function readAddress(text: string): URL | undefined {
  try {
    // libpq also takes "user@/database?host=/socket/directory".
    const url = new URL(text.replace('@/', '@localhost/'));
    decodeURIComponent(`${url.username}${url.password}${url.hostname}${url.pathname}`);
    return /^postgres(ql)?:$/.test(url.protocol) ? url : undefined;
  } catch {
    // The parser's own error holds the text.
    return undefined;
  }
}
