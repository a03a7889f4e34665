/** What a DATABASE_URL has to look like, judged without connecting. */

/** What is said of one that is none: never the text, which can hold a password. */
export const wrongAddress =
  'DATABASE_URL is not an address of the form postgres://user:password@host:5432/database (special characters in the password as %XX).';

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
