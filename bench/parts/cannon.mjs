// A process of its own that fires: autocannon, so that neither side of a comparison pays for it. Told by IPC.
import autocannon from 'autocannon';

process.on('message', async ({ url, headers, connections, seconds }) => {
  const result = await autocannon({ url, headers, connections, duration: seconds });
  process.send({
    perSecond: result.requests.average,
    p99_ms: result.latency.p99,
    failed: result.errors + result.timeouts + result.non2xx,
  });
});
