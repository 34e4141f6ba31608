// SPDX-License-Identifier: MIT
// node v2-http.mjs PORT stateful|stateless|handler [json]   bare node:http; handler = createMcpHandler (2026-07-28 + 2025 stateless)
import { createServer } from 'node:http';
import { randomUUID } from 'node:crypto';
import { McpServer, createMcpHandler } from '@modelcontextprotocol/server';
import { NodeStreamableHTTPServerTransport, toNodeHandler } from '@modelcontextprotocol/node';
import { register } from './tools.mjs';
const [port, mode, json] = process.argv.slice(2);
const enableJsonResponse = json === 'json';
const make = () => register(new McpServer({ name: 'v2', version: '1' }), 2);
const sessions = new Map();
let handler;
if (mode === 'handler') handler = toNodeHandler(createMcpHandler(make, enableJsonResponse ? { responseMode: 'json' } : {}));
else handler = async (req, res) => {
  if (mode === 'stateless') {
    const server = make();
    const t = new NodeStreamableHTTPServerTransport({ sessionIdGenerator: undefined, enableJsonResponse });
    res.on('close', () => { t.close(); server.close(); });
    await server.connect(t);
    return t.handleRequest(req, res);
  }
  const sid = req.headers['mcp-session-id'];
  let t = sid && sessions.get(sid);
  if (!t) {
    t = new NodeStreamableHTTPServerTransport({ sessionIdGenerator: () => randomUUID(), enableJsonResponse,
      onsessioninitialized: id => { sessions.set(id, t); } });
    await make().connect(t);
  }
  return t.handleRequest(req, res);
};
createServer(handler).listen(Number(port), '127.0.0.1');
