/** The charts are well-formed, keep to the page and draw what they were given. */
import { XMLParser, XMLValidator } from 'fast-xml-parser';
import { expect, test } from 'vitest';
import { part } from './part.ts';

const { barChart, distributionChart, readable } = await part('chart');
const { chartsOf } = await part('charts');

type Element = Record<string, string>;
function read(svg: string): { rects: Element[]; texts: Element[]; lines: Element[]; width: number; height: number } {
  expect(XMLValidator.validate(svg)).toBe(true);
  const parser = new XMLParser({ ignoreAttributes: false, attributeNamePrefix: '', parseTagValue: false });
  const { svg: root } = parser.parse(svg) as { svg: Record<string, Element[]> & { width: string; height: string } };
  const list = (name: string) => [root[name] ?? []].flat();
  const { width, height } = root;
  return {
    rects: list('rect'),
    texts: list('text'),
    lines: list('line'),
    width: Number(width),
    height: Number(height),
  };
}

/** Nothing reaches over an edge; words are taken to need 7.2 px a letter at most. */
function expectInside({ rects, texts, width, height }: ReturnType<typeof read>): void {
  for (const { x = '0', y = '0', width: w, height: h } of rects) {
    expect(Number(x) + Number(w)).toBeLessThanOrEqual(width);
    expect(Number(y) + Number(h)).toBeLessThanOrEqual(height);
  }
  for (const one of texts.filter((text) => text['class'] !== 'title')) {
    const length = String(one['#text']).length * 7.2;
    const from = Number(one['x']) - { start: 0, middle: length / 2, end: length }[one['text-anchor'] as 'start']!;
    expect(from, one['#text']).toBeGreaterThanOrEqual(0);
    expect(from + length, one['#text']).toBeLessThanOrEqual(width);
    expect(Number(one['y'])).toBeLessThan(height);
  }
}

const words = { title: 'Bars & <more>', subtitle: 'per second' };

test.each([
  ['the largest first', [9800, 4000, 12]],
  ['the largest last', [12, 4000, 9800]],
  ['equal ones', [5, 5]],
  ['one of millions beside one of hundredths', [1_234_567, 0.01]],
])('bars are as long as their values: %s', (_name, values) => {
  const bars = values.map((value, i) => ({ label: `Bar ${i}`, value, words: `of ${i}` }));
  const chart = read(barChart({ ...words, groups: [{ bars }] }));
  expectInside(chart);
  const drawn = chart.rects.filter((rect) => rect['class'] === 'other').map((rect) => Number(rect['width']));
  expect(drawn).toHaveLength(values.length);
  const scale = Math.max(...drawn) / Math.max(...values);
  for (const [i, value] of values.entries()) expect(drawn[i]).toBeCloseTo(Math.max(1, value * scale), 0);
});

test('a bound beyond the bar stays on the page, and the words of the bar do not stand on it', () => {
  for (const value of [10, 50, 58, 62, 99]) {
    const bars = [{ label: 'Certo', value, own: true, marks: [{ value: 60, label: 'goal' }] }];
    const chart = read(barChart({ ...words, groups: [{ name: 'One', bars }] }));
    expectInside(chart);
    const mark = chart.lines.find((line) => line['class'] === 'mark')!;
    const figure = chart.texts.find((text) => text['#text'] === readable(value))!;
    const [from, to] = [Number(figure['x']), Number(figure['x']) + readable(value).length * 7.2];
    expect(Number(mark['x1']) < from || Number(mark['x1']) > to, String(value)).toBe(true);
  }
});

test('a distribution has a bar for each bucket with something in it, and a label for each mark', () => {
  const buckets = [1, 2, 4, 8].map((from_ms, i) => ({ from_ms, to_ms: from_ms * 2, count: [3, 0, 10, 1][i] }));
  const marks = [
    { at_ms: 4.1, label: 'half within 4 ms' },
    { at_ms: 4.3, label: '99 % within 4 ms' },
  ];
  const chart = read(distributionChart({ ...words, buckets, marks }));
  expectInside(chart);
  const heights = chart.rects.filter((rect) => rect['class'] === 'own').map((rect) => Number(rect['height']));
  expect(heights).toHaveLength(3);
  expect(heights[0]! / heights[1]!).toBeCloseTo(0.3, 2);
  const anchors = chart.texts
    .filter((text) => text['class'] === 'strong')
    .map((text) => [text['#text'], text['text-anchor']]);
  // Too near to one another to stand over their marks.
  expect(anchors).toEqual([
    ['half within 4 ms', 'end'],
    ['99 % within 4 ms', 'start'],
  ]);
});

test('what is no number is not drawn', () => {
  expect(() => barChart({ ...words, groups: [{ bars: [{ label: 'x', value: Number.NaN }] }] })).toThrow('no number');
});

test('charts are made of the rows that were measured and hold', () => {
  const details = {
    rsa: 9000,
    sevenTrips: undefined,
    oneStatement: undefined,
    perSecond: { 1: 200, 8: 1500, 64: 4000 },
    p50_ms: 15,
    p99_ms: 30,
    histogram: [{ from_ms: 10, to_ms: 20, count: 5 }],
  };
  const issue = { name: 'issue-rsa', value: 0.44, floor: { least: 0.35 }, goal: { least: 0.6 }, details };
  const stack = { name: 'stack-crowd', value: 9, details: { certo: { 1: 60, 32: 900 }, stack: { 1: 20, 32: 100 } } };
  const charts = chartsOf([issue, stack]);
  expect(Object.keys(charts)).toEqual(['issue.svg', 'latency.svg', 'stack.svg']);
  for (const svg of Object.values(charts)) expectInside(read(svg as string));
  // Without pgbench there is no bar for it.
  expect(charts['issue.svg']).not.toContain('pgbench, ');
  expect(charts['stack.svg']).toContain('900 · 9.0 ×');
  expect(chartsOf([{ ...issue, broken: 'a gap', value: 0 }, { name: 'stack-crowd' }])).toEqual({});
});
