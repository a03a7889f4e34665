// What is made of measured values.

export function median(values) {
  if (values.length === 0) throw new Error('there is no median of nothing');
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** The smallest value that is not exceeded by this share of them (nearest rank); `sorted` is ascending. */
export function percentile(sorted, share) {
  if (sorted.length === 0) throw new Error('there is no percentile of nothing');
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
}

/** Buckets of a histogram grow by a sixteenth of an octave: 4.4 % each. */
const per_octave = 16;

/** Of latencies in milliseconds: median, 99 %, longest, and how many fell into each bucket, by its lower end. */
export function latencyFigures(latencies) {
  const sorted = Float64Array.from(latencies).sort();
  const buckets = new Map();
  for (const latency of sorted) {
    const step = Math.floor(Math.log2(Math.max(latency, 0.001)) * per_octave);
    buckets.set(step, (buckets.get(step) ?? 0) + 1);
  }
  return {
    p50_ms: percentile(sorted, 0.5),
    p99_ms: percentile(sorted, 0.99),
    longest_ms: sorted.at(-1),
    histogram: [...buckets].map(([step, count]) => ({ from_ms: 2 ** (step / per_octave), step, count })),
  };
}

/** Histograms of several rounds as one, without holes, ascending. */
export function joinHistograms(histograms) {
  const counts = new Map();
  for (const { step, count } of histograms.flat()) counts.set(step, (counts.get(step) ?? 0) + count);
  const steps = [...counts.keys()];
  const joined = [];
  for (let step = Math.min(...steps); step <= Math.max(...steps); step++) {
    joined.push({
      from_ms: 2 ** (step / per_octave),
      to_ms: 2 ** ((step + 1) / per_octave),
      count: counts.get(step) ?? 0,
    });
  }
  return joined;
}

/** How many requests make a round of about so many seconds, from the rate of the round before. */
export function countFor(perSecond, seconds, { least, most }) {
  return Math.round(Math.min(most, Math.max(least, perSecond * seconds)));
}
