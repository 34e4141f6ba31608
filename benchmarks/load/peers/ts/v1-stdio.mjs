// SPDX-License-Identifier: MIT
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { register } from './tools.mjs';
await register(new McpServer({ name: 'v1', version: '1' }), 1).connect(new StdioServerTransport());
