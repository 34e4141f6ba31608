// SPDX-License-Identifier: MIT
// node client.mjs v1|v2|v2-modern stdio|http N W SIZE [URL]   calls rawpeer's echo; prints one JSON line
import { createRequire } from 'node:module';
const [ver, kind, n_, w_, size_, url] = process.argv.slice(2);
const N = +n_, W = +w_, size = +size_, raw = new URL('../../rawpeer', import.meta.url).pathname;
let Client, Stdio, Http;
if (ver === 'v1') {
  ({ Client } = await import('@modelcontextprotocol/sdk/client/index.js'));
  ({ StdioClientTransport: Stdio } = await import('@modelcontextprotocol/sdk/client/stdio.js'));
  ({ StreamableHTTPClientTransport: Http } = await import('@modelcontextprotocol/sdk/client/streamableHttp.js'));
} else {
  ({ Client, StreamableHTTPClientTransport: Http } = await import('@modelcontextprotocol/client'));
  ({ StdioClientTransport: Stdio } = await import('@modelcontextprotocol/client/stdio'));
}
const client = new Client({ name: 'c', version: '1' }, ver === 'v2-modern' ? { versionNegotiation: { mode: { pin: '2026-07-28' } } } : {});
const t = kind === 'stdio' ? new Stdio({ command: raw, args: ['stdio'] }) : new Http(new URL(url));
await client.connect(t);
const text = size ? 'x'.repeat(size) : 'hi';
let lat = [];
async function phase(n) {
  lat = new Float64Array(n); let next = 0;
  const one = async () => { for (;;) { const i = next++; if (i >= n) return; const a = performance.now();
    const r = await client.callTool({ name: 'echo', arguments: { text } });
    if (r.content[0].text !== text) throw new Error('wrong echo'); lat[i] = performance.now() - a; } };
  await Promise.all(Array.from({ length: W }, one));
}
await phase(Math.min(Math.ceil(N / 4), 2000));
const c0 = process.cpuUsage(), t0 = performance.now();
await phase(N);
const secs = (performance.now() - t0) / 1e3, c = process.cpuUsage(c0);
lat.sort();
console.log(JSON.stringify({ label: `client-${ver}`, mode: kind, calls: N, in_flight: W, size, seconds: +secs.toFixed(4), rps: +(N / secs).toFixed(1),
  p50_us: +(lat[Math.floor(N * .5)] * 1e3).toFixed(1), p99_us: +(lat[Math.floor(N * .99)] * 1e3).toFixed(1), max_us: +(lat[N - 1] * 1e3).toFixed(1),
  peer_cpu_s: (c.user + c.system) / 1e6, peer_hwm_kib: process.resourceUsage().maxRSS, errors: 0 }));
await client.close();
process.exit(0);
