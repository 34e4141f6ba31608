// SPDX-License-Identifier: MIT
// node v1-http.mjs PORT stateful|stateless [json]      bare node:http
import { createServer } from 'node:http';
import { randomUUID } from 'node:crypto';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { register } from './tools.mjs';
const [port, mode, json] = process.argv.slice(2);
const enableJsonResponse = json === 'json';
const make = () => register(new McpServer({ name: 'v1', version: '1' }), 1);
const sessions = new Map();
createServer(async (req, res) => {
  if (mode === 'stateless') {
    const server = make();
    const t = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined, enableJsonResponse });
    res.on('close', () => { t.close(); server.close(); });
    await server.connect(t);
    return t.handleRequest(req, res);
  }
  const sid = req.headers['mcp-session-id'];
  let t = sid && sessions.get(sid);
  if (!t) {
    t = new StreamableHTTPServerTransport({ sessionIdGenerator: () => randomUUID(), enableJsonResponse,
      onsessioninitialized: id => sessions.set(id, t) });
    await make().connect(t);
  }
  return t.handleRequest(req, res);
}).listen(Number(port), '127.0.0.1');
