// SPDX-License-Identifier: MIT
import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { register } from './tools.mjs';
serveStdio(() => register(new McpServer({ name: 'v2', version: '1' }), 2));
