// Charts as SVG, written by hand: bars and a distribution, labelled where the eye is, for light and dark pages. The
// colours are those of the pages for people (src/doors/http/docs/pages.css).
const width = 720;
const margin = 24;
const bar_height = 20;
const style = `<style>
    :root { --paper: #ffffff; --line: #d5dedb; --ink: #15201e; --quiet: #50605c; --accent: #0f766e; --other: #b4c1bd; }
    @media (prefers-color-scheme: dark) {
      :root { --paper: #0f1615; --line: #2c3a37; --ink: #e9f0ee; --quiet: #a2b2ae; --accent: #5bc9bb; --other: #4d5e5a; }
    }
    text { font: 400 13px "Noto Sans", system-ui, sans-serif; fill: var(--ink); font-variant-numeric: tabular-nums; }
    .title { font-size: 18px; font-weight: 600; }
    .quiet { fill: var(--quiet); }
    .small { font-size: 12px; }
    .strong { font-weight: 600; }
    .paper { fill: var(--paper); }
    .own { fill: var(--accent); }
    .other { fill: var(--other); }
    .rule { stroke: var(--line); }
    .mark { stroke: var(--ink); }
  </style>`;

const escaped = (text) => String(text).replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);

const text = (x, y, words, { kind = '', anchor = 'start' } = {}) =>
  `<text x="${round(x)}" y="${round(y)}" class="${kind}" text-anchor="${anchor}">${escaped(words)}</text>`;

/** Pixels that words of 13 px need at most. */
const widthOf = (words) => words.length * 7.2;

function round(value) {
  if (!Number.isFinite(value)) throw new Error('a chart was given something that is no number');
  return Math.round(value * 10) / 10;
}

/** 1,234 or 0.56: as many digits as are worth reading. */
export function readable(value) {
  const digits = Math.abs(value) >= 10 ? 0 : Math.abs(value) >= 1 ? 1 : 2;
  return value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

function page({ title, subtitle, told }, height, parts) {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escaped(`${title}. ${told}`)}">
  ${style}
  <rect class="paper" width="${width}" height="${height}" rx="8"/>
  ${text(margin, 40, title, { kind: 'title' })}
  ${text(margin, 62, subtitle, { kind: 'quiet' })}
  ${parts.join('\n  ')}
</svg>
`;
}

/**
 * Horizontal bars from one zero line. `groups`: { name?, bars }, `bars`: { label, value, own?, words?, marks? }; `words` stand
 * behind the figure, `marks` ({ value, label }) cross the bar where a bound lies.
 */
export function barChart({ title, subtitle, groups }) {
  const bars = groups.flatMap((group) => group.bars);
  const left = margin + Math.max(...bars.map(({ label }) => widthOf(label))) + 12;
  const behind = ({ value, words = '' }) => `${readable(value)}${words === '' ? '' : ` · ${words}`}`;
  const reach = Math.max(...bars.flatMap(({ value, marks = [] }) => [value, ...marks.map((mark) => mark.value)]));
  // The longest bar leaves room for its own words; so does any other, which is shorter.
  const room = Math.min(...bars.map((bar) => ((width - margin - left - 8 - widthOf(behind(bar))) * reach) / bar.value));
  const across = (value) => left + (value / reach) * Math.min(room, width - margin - left - 8);
  const parts = [];
  let y = 84;
  for (const { name, bars: ofGroup } of groups) {
    if (name !== undefined) {
      parts.push(text(margin, y + 14, name, { kind: 'strong' }));
      y += 26;
    }
    for (const bar of ofGroup) {
      if (bar.marks !== undefined) y += 16;
      const end = across(bar.value);
      parts.push(text(left - 12, y + 14.5, bar.label, { anchor: 'end', kind: bar.own ? 'strong' : '' }));
      parts.push(
        `<rect class="${bar.own ? 'own' : 'other'}" x="${round(left)}" y="${y}" width="${round(Math.max(1, end - left))}" height="${bar_height}" rx="2"/>`,
      );
      const marks = (bar.marks ?? []).map((mark) => across(mark.value));
      parts.push(
        text(besideBar(end, widthOf(behind(bar)), marks), y + 14.5, behind(bar), { kind: bar.own ? 'strong' : '' }),
      );
      for (const mark of bar.marks ?? []) parts.push(markAt(across(mark.value), y, mark.label));
      y += bar_height + 8;
    }
    y += 12;
  }
  const told = bars.map((bar) => `${bar.label}: ${behind(bar)}`).join('; ');
  parts.push(`<line class="rule" x1="${round(left)}" y1="80" x2="${round(left)}" y2="${y - 16}"/>`);
  return page({ title, subtitle, told }, y + 4, parts);
}

/** Where the words behind a bar begin: at its end, or behind a mark that would run through them. */
function besideBar(end, length, marks) {
  let x = end + 8;
  for (const mark of [...marks].sort((a, b) => a - b)) if (mark > x - 8 && mark < x + length + 8) x = mark + 8;
  return x;
}

function markAt(x, y, label) {
  return [
    `<line class="mark" x1="${round(x)}" y1="${y - 3}" x2="${round(x)}" y2="${y + bar_height + 3}"/>`,
    text(x, y - 7, label, { kind: 'small quiet', anchor: 'middle' }),
  ].join('');
}

/**
 * How values are spread, on a logarithmic scale of milliseconds. `buckets`: { from_ms, to_ms, count } without holes, each
 * as wide as the others on that scale; `marks`: { at_ms, label }.
 */
export function distributionChart({ title, subtitle, buckets, marks }) {
  const top = 112;
  const base = 232;
  const step = Math.log(buckets[0].to_ms / buckets[0].from_ms);
  // An empty bucket at each end, so that nothing stands at the edge.
  const from = Math.log(buckets[0].from_ms) - step;
  const to = Math.log(buckets.at(-1).to_ms) + step;
  const across = (ms) => margin + ((Math.log(ms) - from) / (to - from)) * (width - 2 * margin);
  const highest = Math.max(...buckets.map(({ count }) => count));
  const parts = buckets
    .filter(({ count }) => count > 0)
    .map(({ from_ms, to_ms, count }) => {
      const height = Math.max(1, (count / highest) * (base - top));
      const [x, end] = [across(from_ms), across(to_ms)];
      return `<rect class="own" x="${round(x)}" y="${round(base - height)}" width="${round(Math.max(1, end - x - 1))}" height="${round(height)}"/>`;
    });
  parts.push(`<line class="rule" x1="${margin}" y1="${base}" x2="${width - margin}" y2="${base}"/>`);
  for (const tick of ticks(buckets[0].from_ms, buckets.at(-1).to_ms)) {
    parts.push(
      `<line class="rule" x1="${round(across(tick))}" y1="${base}" x2="${round(across(tick))}" y2="${base + 5}"/>`,
    );
    parts.push(text(across(tick), base + 20, `${readable(tick)} ms`, { kind: 'small quiet', anchor: 'middle' }));
  }
  for (const { x, label, anchor } of placed(marks.map(({ at_ms, label }) => ({ x: across(at_ms), label })))) {
    parts.push(`<line class="mark" x1="${round(x)}" y1="${top - 8}" x2="${round(x)}" y2="${base}"/>`);
    parts.push(text(x, top - 14, label, { kind: 'strong', anchor }));
  }
  return page({ title, subtitle, told: marks.map(({ label }) => label).join('; ') }, base + 40, parts);
}

/** Labels over their marks, turned away from a neighbour or an edge that is too near. */
function placed(marks) {
  return marks.map((mark, i) => {
    const half = (widthOf(mark.label) * 1.1) / 2;
    const next = marks[i + 1];
    const before = marks[i - 1];
    const near = (other) =>
      other !== undefined && Math.abs(other.x - mark.x) < half + (widthOf(other.label) * 1.1) / 2 + 8;
    if (near(next) || mark.x + half > width - margin) return { ...mark, anchor: 'end' };
    if (near(before) || mark.x - half < margin) return { ...mark, anchor: 'start' };
    return { ...mark, anchor: 'middle' };
  });
}

/** Round values inside the bounds; more of them where there is less than a decade. */
function ticks(from, to) {
  const steps = to / from > 8 ? [1, 2, 5] : [1, 1.5, 2, 3, 4, 5, 7];
  const found = [];
  for (let power = 10 ** Math.floor(Math.log10(from)); power <= to; power *= 10) {
    for (const step of steps) if (power * step >= from && power * step <= to) found.push(power * step);
  }
  return found;
}
