import fc from 'fast-check';
import { XmlDocument } from 'libxml2-wasm';
import { describe, expect, test } from 'vitest';
import { everything, sourceOf, textOf } from '../../../../test/golden/saft-samples.ts';
import { schemaFaults } from '../../../../test/golden/saft-schema.ts';
import { writeSaft } from '../write.ts';
import { checkSaft, type SaftReport } from './check-saft.ts';
import type { FindingCode } from './findings.ts';
import { readXml, XmlFault } from './reader.ts';

const good = everything().then(({ documents }) => textOf(writeSaft(sourceOf(documents))));
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

async function* portions(file: Uint8Array, sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  let at = 0;
  for (let turn = 0; at < file.length; turn += 1) {
    const size = sizes[turn % sizes.length]!;
    yield file.subarray(at, at + size);
    at += size;
  }
}

const check = (file: Uint8Array | string): Promise<SaftReport> =>
  checkSaft(portions(typeof file === 'string' ? bytes(file) : file, [65_536]), {});

async function* one<T>(value: T): AsyncGenerator<T> {
  yield value;
}

/** What the reader tells of a text, as words. */
async function told(xml: string, chunks: AsyncIterable<string> = one(xml)): Promise<string[]> {
  const words: string[] = [];
  await readXml(chunks, {
    open: (name, namespace, line) => words.push(`${line} <${namespace === '' ? '' : `{${namespace}}`}${name}>`),
    attribute: (name) => words.push(`@${name}`),
    text: (value) => value.trim() !== '' && words.push(JSON.stringify(value)),
    close: (line) => words.push(`${line} /`),
  });
  return words;
}

describe('what XML allows', () => {
  test.each([
    ['<a/>', ['1 <a>', '1 /']],
    ['\ufeff<?xml version="1.0"?><!-- - --><?x y?>\n<a\n>x</a >\n<!--e-->', ['2 <a>', '"x"', '3 /']],
    ['<a>&lt;&gt;&amp;&quot;&apos;&#65;&#x1F600;</a>', ['1 <a>', '"<>&\\"\'A😀"', '1 /']],
    ['<a><![CDATA[<b>&amp;]]]]></a>', ['1 <a>', '"<b>&amp;]]"', '1 /']],
    ['<a>x\r\ny\rz&#13;</a>', ['1 <a>', '"x\\ny\\nz\\r"', '2 /']],
    [
      '<p:a xmlns:p="u" xmlns="v"><b/><p:c xmlns:p="w"/></p:a>',
      ['1 <{u}a>', '1 <{v}b>', '1 /', '1 <{w}c>', '1 /', '1 /'],
    ],
    [`<a b='>"' c=">"/>`, ['1 <a>', '@b', '@c', '1 /']],
    ['<a x:schemaLocation="u" xmlns:x="y"/>', ['1 <a>', '1 /']],
    ['<ação.b-c_1/>', ['1 <ação.b-c_1>', '1 /']],
  ])('%j', async (xml, words) => {
    // The byte order mark belongs to the encoding: decoding takes it away.
    expect(await told(xml.replace('\ufeff', ''))).toEqual(words);
  });
});

describe('what it does not', () => {
  test.each<[string, FindingCode]>([
    ['', 'XML_CUT_OFF'],
    ['<a>', 'XML_CUT_OFF'],
    ['<a><b', 'XML_CUT_OFF'],
    ['<a></b>', 'XML_MALFORMED'],
    ['</a>', 'XML_MALFORMED'],
    ['<a/><b/>', 'XML_MALFORMED'],
    ['<a/>x', 'XML_MALFORMED'],
    ['x<a/>', 'XML_MALFORMED'],
    ['<a/><![CDATA[x]]>', 'XML_MALFORMED'],
    ['<1/>', 'XML_MALFORMED'],
    ['< a/>', 'XML_MALFORMED'],
    ['<a:b:c xmlns:a="u"/>', 'XML_MALFORMED'],
    ['<p:a/>', 'XML_MALFORMED'],
    ['<a b/>', 'XML_MALFORMED'],
    ['<a b=c/>', 'XML_MALFORMED'],
    ['<a b="1" b="2"/>', 'XML_MALFORMED'],
    ['<a b="<"/>', 'XML_MALFORMED'],
    ['<a b="1"c="2"/>', 'XML_MALFORMED'],
    ['<a>&nbsp;</a>', 'XML_MALFORMED'],
    ['<a>&</a>', 'XML_MALFORMED'],
    ['<a>&amp</a>', 'XML_MALFORMED'],
    ['<a>&#0;</a>', 'XML_MALFORMED'],
    ['<a>&#xD800;</a>', 'XML_MALFORMED'],
    ['<a>&#x110000;</a>', 'XML_MALFORMED'],
    ['<a>]]></a>', 'XML_MALFORMED'],
    ['<a><!-- -- --></a>', 'XML_MALFORMED'],
    ['<a><!-- ---></a>', 'XML_MALFORMED'],
    [' <?xml version="1.0"?><a/>', 'XML_MALFORMED'],
    ['<a><?xml version="1.0"?></a>', 'XML_MALFORMED'],
    ['<?xml encoding="UTF-8"?><a/>', 'XML_MALFORMED'],
    ['<a>\u0001</a>', 'XML_CHARACTER'],
    ['<a b="\u0001"/>', 'XML_CHARACTER'],
    ['<a>\ufffe</a>', 'XML_CHARACTER'],
    ['<!DOCTYPE a><a/>', 'XML_DOCTYPE'],
    ['<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>', 'XML_DOCTYPE'],
    ['<!ELEMENT a ANY><a/>', 'XML_DOCTYPE'],
    [`${'<a>'.repeat(70)}${'</a>'.repeat(70)}`, 'XML_TOO_DEEP'],
    [`<a>${'x'.repeat(1_100_000)}`, 'XML_TOO_LONG'],
    [`<a b="${'x'.repeat(1_100_000)}`, 'XML_TOO_LONG'],
  ])('%.40j', async (xml, code) => {
    const fault = await told(xml).catch((error: unknown) => error);
    expect(fault).toBeInstanceOf(XmlFault);
    expect((fault as XmlFault).code).toBe(code);
    // libxml2 is of the same mind, but for what is only our limit.
    if (!/TOO/.test(code) && !xml.includes('<!')) expect(() => XmlDocument.fromString(xml)).toThrow();
  });

  test('is told with its line, and what came before still counts', async () => {
    const xml = (await good).replace('<EndDate>2026-03-31</EndDate>', '<EndDate>2026-03-31<EndDate>');
    const { findings } = await check(xml);
    expect(findings.at(-1)).toMatchObject({
      code: 'XML_MALFORMED',
      line: xml.slice(0, xml.indexOf('</Header>')).split('\n').length,
    });
  });
});

describe('encodings', () => {
  const declared = (encoding: string, rest = '') => `<?xml version="1.0" encoding="${encoding}"?>\n<AuditFile>${rest}`;

  test('one that nobody knows is told', async () => {
    expect((await check(declared('EBCDIC-PT'))).counts.ENCODING_UNKNOWN).toBe(1);
    expect((await check(new Uint8Array([0xff, 0xfe, 0x3c, 0]))).counts.ENCODING_UNKNOWN).toBe(1);
  });

  test('bytes that are not what the file says are told once, with the line, also far behind the beginning', async () => {
    const latin = Buffer.from(await good, 'latin1');
    const { counts, findings } = await checkSaft(portions(latin, [1000]));
    expect(counts.ENCODING_WRONG).toBe(1);
    const line = (await good).split('\n').findIndex((text) => /[^\0-\x7f]/.test(text)) + 1;
    expect(findings.find(({ code }) => code === 'ENCODING_WRONG')).toMatchObject({
      line,
      facts: { encoding: 'UTF-8' },
    });
  });

  test('a character cut in two by the end of the file is told', async () => {
    const cut = bytes('<AuditFile>é').subarray(0, -1);
    expect((await check(cut)).counts.ENCODING_WRONG).toBe(1);
  });

  test.each(['windows-1252', 'ISO-8859-1', 'Windows-1252'])('%s', async (encoding) => {
    const xml = (await good).replace('encoding="UTF-8"', `encoding="${encoding}"`).replace(/[^\0-\xff]/g, '-');
    expect((await check(Buffer.from(xml, 'latin1'))).findings).toEqual([]);
  });
});

test('where the file is cut into portions changes nothing', async () => {
  const xml = (await good)
    .replace('<City>Lisboa', '<City><![CDATA[]]>')
    .replace('<TaxEntity>', '<!-- > --><TaxEntity lang="&gt;>">')
    .replace('<UnitPrice>', '<UnitPrice>-');
  const file = bytes(xml);
  const whole = await checkSaft(portions(file, [file.length]));
  expect(whole.errors).toBeGreaterThan(2);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 20 }), async (sizes) => {
      expect(await checkSaft(portions(file, sizes))).toEqual(whole);
    }),
    { numRuns: 15 },
  );
});

const texts = [
  '',
  ' ',
  'x',
  '-1',
  '-0',
  '0',
  '+1',
  '1e3',
  '.5',
  '5.',
  '1,5',
  ' 23.00 ',
  '2026-13-01',
  '2026-02-29',
  '2026-03-06',
  '2026-03-06T25:00:00',
  '2026-03-06T10:00:00',
  'N',
  'A',
  'F',
  'PT',
  'EL',
  'Desconhecido',
  'USD',
  'EUR',
  'IVA',
  'NOR',
  'M07',
  'M7',
  'FT A2026/1',
  'FT A2026',
  '1',
  '13',
  '999999990',
  '&amp;',
  '&x;',
  '<b/>',
  '&#xe9;',
  'é'.repeat(51),
  'é'.repeat(300),
  '😀'.repeat(30),
  '😀'.repeat(31),
  '1-FTM abc/00001',
  'a^b',
  'a/b',
  '00000',
  'ABC.1',
];
const change = fc.record({
  how: fc.constantFrom('remove', 'repeat', 'exchange', 'text', 'text', 'text', 'name'),
  where: fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
  text: fc.constantFrom(...texts),
});
type Change = typeof change extends fc.Arbitrary<infer C> ? C : never;

/** A file of one element a line, changed in one line. */
function changed(xml: string, { how, where, text }: Change): string {
  const lines = xml.split('\n');
  const at = 2 + Math.floor(where * (lines.length - 4));
  const line = lines[at]!;
  if (how === 'remove') lines.splice(at, 1);
  else if (how === 'repeat') lines.splice(at, 0, line);
  else if (how === 'exchange') lines.splice(at, 2, lines[at + 1]!, line);
  else if (how === 'name') lines[at] = line.replace(/^<(\/?)\w+/, '<$1City');
  else lines[at] = line.replace(/>[^<]*</, () => `>${text}<`);
  return lines.join('\n');
}

/** Findings that stand for the schema's own rules; the others are assertions and figures, which libxml2 does not judge. */
const ofSchema = /^(?:XML_|ELEMENT_|VALUE_|ATTRIBUTE|TEXT_|NAMESPACE|ROOT_|KEY_|NUMBER_REPEATED|REFERENCE_UNKNOWN)/;

async function* cut(xml: string, sizes: readonly number[]): AsyncGenerator<string> {
  let at = 0;
  for (let turn = 0; at < xml.length; turn += 1) {
    const size = sizes[turn % sizes.length]!;
    yield xml.slice(at, at + size);
    at += size;
  }
}

test('wherever the text is cut, the same is told', async () => {
  const pieces = [
    '<',
    '>',
    '"',
    "'",
    '-',
    '!',
    '?',
    '/',
    ']',
    '[',
    ' ',
    'a',
    '<!--',
    '-->',
    '<![CDATA[',
    ']]>',
    '<?x ',
    '?>',
  ];
  const tags = ['<a>', '</a>', '<b/>', `<b c='>"' d="'>">`, '</b>', ' x="', "y='>'"];
  const inside = fc.array(fc.constantFrom(...pieces, ...tags), { maxLength: 25 });
  const said = (xml: string, chunks?: AsyncIterable<string>) =>
    told(xml, chunks).catch((fault: XmlFault) => ({ code: fault.code, line: fault.line, facts: fault.facts }));
  await fc.assert(
    fc.asyncProperty(inside, fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1 }), async (parts, sizes) => {
      const xml = `<a>${parts.join('')}</a>`;
      expect(await said(xml, cut(xml, sizes))).toEqual(await said(xml));
    }),
    { numRuns: 2000 },
  );
});

test('libxml2 and we agree on what is valid', async () => {
  const xml = await good;
  const verdicts = { valid: 0, invalid: 0 };
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 2 }), async (changes) => {
      const file = changes.reduce(changed, xml);
      let faults: string[];
      try {
        faults = schemaFaults(file);
      } catch (error) {
        faults = [(error as Error).message];
      }
      const { counts } = await check(file);
      const found = Object.keys(counts).filter((code) => ofSchema.test(code));
      // Not a day or time by the schema's letter alone: we ask for SAF-T's own form.
      const strict = Object.keys(counts).includes('TIME_WITH_ZONE');
      verdicts[faults.length > 0 ? 'invalid' : 'valid'] += 1;
      expect({ faults, found }).toEqual(
        faults.length > 0
          ? { faults, found: expect.arrayContaining([expect.anything()]) }
          : { faults, found: strict ? expect.anything() : [] },
      );
    }),
    { numRuns: 400 },
  );
  // Both sides of the comparison were met.
  expect(Math.min(verdicts.valid, verdicts.invalid)).toBeGreaterThan(20);
});

test('whatever bytes come, there is a report and never a throw', async () => {
  const file = bytes(await good);
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.integer({ min: 0, max: file.length - 1 }), fc.integer({ min: 0, max: 255 })), {
        minLength: 1,
        maxLength: 6,
      }),
      fc.integer({ min: 1, max: file.length }),
      async (bad, length) => {
        const broken = file.slice(0, length);
        for (const [at, byte] of bad) if (at < length) broken[at] = byte;
        const report = await check(broken);
        expect(report.findings.every(({ line }) => line >= 1)).toBe(true);
      },
    ),
    { numRuns: 150 },
  );
});
