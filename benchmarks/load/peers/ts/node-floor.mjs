// SPDX-License-Identifier: MIT
// node node-floor.mjs stdio | http PORT : what Node alone costs (JSON.parse, JSON.stringify, no SDK, no validation)
import { createServer } from 'node:http';
const answer = m => {
  if (m.id === undefined) return null;
  const r = m.method === 'tools/call' ? { ...(m.params._meta ? { resultType: 'complete' } : {}), content: [{ type: 'text', text: m.params.arguments.text }] }
    : { protocolVersion: m.params?.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'floor', version: '1' } };
  return JSON.stringify({ jsonrpc: '2.0', id: m.id, result: r });
};
if (process.argv[2] === 'stdio') {
  let parts = [];
  process.stdin.on('data', d => {
    let b = 0, q;
    while ((q = d.indexOf(10, b)) >= 0) {
      parts.push(d.subarray(b, q)); b = q + 1;
      const a = answer(JSON.parse((parts.length === 1 ? parts[0] : Buffer.concat(parts)).toString()));
      parts = [];
      if (a) process.stdout.write(a + '\n');
    }
    if (b < d.length) parts.push(d.subarray(b));
  });
} else createServer((req, res) => {
  const c = [];
  req.on('data', d => c.push(d)).on('end', () => {
    const a = answer(JSON.parse(Buffer.concat(c).toString()));
    if (!a) return res.writeHead(202).end();
    const b = Buffer.from(a);
    res.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': b.length }).end(b);
  });
}).listen(Number(process.argv[3]), '127.0.0.1');
