// SPDX-License-Identifier: MIT
// The same two tools for every server here. z: zod; the v1 and v2 McpServer have the same registerTool.
import { z } from 'zod';
// v1 takes a raw shape, v2 a Standard Schema object
export function register(server, v) {
  const wrap = s => (v === 2 ? z.object(s) : s);
  server.registerTool('echo', { description: 'echo', inputSchema: wrap({ text: z.string() }) },
    async ({ text }) => ({ content: [{ type: 'text', text }] }));
  server.registerTool('add', { description: 'add', inputSchema: wrap({ a: z.number(), b: z.number() }) },
    async ({ a, b }) => ({ content: [{ type: 'text', text: String(a + b) }] }));
  return server;
}
