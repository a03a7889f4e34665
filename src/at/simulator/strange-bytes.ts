/** Replies that Node's server would not write: each as the bytes that go over the wire. */
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';

const statusLine = 'HTTP/1.1 200 OK';

function reply(body: Buffer, headers: readonly string[]): Buffer {
  const head = [statusLine, 'Content-Type: text/xml; charset=utf-8', ...headers, '', ''].join('\r\n');
  return Buffer.concat([Buffer.from(head), body]);
}

const withLength = (body: Buffer): Buffer => reply(body, [`Content-Length: ${body.length}`]);

const makers = {
  'other-encoding': (xml) => withLength(Buffer.from(xml, 'utf16le')),
  'broken-encoding': (xml) => withLength(Buffer.from(xml.replace('</', 'ção</'), 'latin1')),
  'two-lengths': (xml) => {
    const body = Buffer.from(xml);
    return reply(body, [`Content-Length: ${body.length}`, `Content-Length: ${body.length - 20}`]);
  },
  'bad-framing': (xml) => reply(Buffer.from(`zz\r\n${xml}\r\n0\r\n\r\n`), ['Transfer-Encoding: chunked']),
  'two-replies': (xml) => Buffer.concat([withLength(Buffer.from(xml)), withLength(Buffer.from(xml))]),
  'not-http': () => Buffer.from('SSH-2.0-OpenSSH_9.6\r\n'),
} satisfies Record<string, (xml: string) => Buffer>;

/** The right answer in a wrong form; the connection ends with it. */
export function strangeBytes(kind: keyof typeof makers, xml: string): Buffer {
  return makers[kind](xml);
}

/** One header after the other, and never the last; stops when the other side hangs up. */
export async function sendHeaders(socket: Duplex): Promise<void> {
  await pipeline(function* () {
    yield `${statusLine}\r\n`;
    for (let i = 0; ; i += 1) yield `X-${i}: ${'x'.repeat(1_000)}\r\n`;
  }, socket);
}
