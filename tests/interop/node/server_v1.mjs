// SPDX-License-Identifier: MIT
// The fixed tool set (see ../README.md) on the official TypeScript SDK v1, over stdio or, with
// `--http PORT`, Streamable HTTP and the HTTP+SSE of 2024-11-05. With `--more` before it, the second tool set instead.

import { completable } from '@modelcontextprotocol/sdk/server/completable.js';
import { McpServer, ResourceTemplate } from '@modelcontextprotocol/sdk/server/mcp.js';
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { SubscribeRequestSchema, UnsubscribeRequestSchema, UrlElicitationRequiredError } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { MIXED, PLACE, PNG, addCatalog, countRun, logLines, sleep, text } from './fixed.mjs';
import { serveHttp } from './http.mjs';
import { addMore } from './more_server.mjs';

function makeMore() {
    const server = new McpServer({ name: 'interop-ts-v1', version: '1.0.0' });
    const sample = (_, params) => server.server.createMessage(params);
    const elicit = (_, params) => server.server.elicitInput(params);
    addMore(server, { z, schema: shape => shape, sample, elicit, UrlsFirst: UrlElicitationRequiredError });
    return server;
}

function makeFixed() {
    const server = new McpServer({ name: 'interop-ts-v1', version: '1.0.0' }, { capabilities: { logging: {}, resources: { subscribe: true } } });

    server.registerTool('echo', { description: 'Gives the text back', inputSchema: { text: z.string() } }, async args => text(args.text));

    server.registerTool(
        'add',
        { description: 'Adds two numbers', inputSchema: { a: z.number(), b: z.number() }, outputSchema: { sum: z.number() } },
        async ({ a, b }) => ({ ...text(JSON.stringify({ sum: a + b })), structuredContent: { sum: a + b } })
    );

    server.registerTool(
        'slow',
        { description: 'Works in steps', inputSchema: { steps: z.number().int(), delay_ms: z.number().int() } },
        async ({ steps, delay_ms }, { signal, sendNotification, _meta }) => {
            countRun(steps);
            for (let i = 1; i <= steps && !signal.aborted; ++i) {
                await sleep(delay_ms, signal);
                if (_meta?.progressToken !== undefined && !signal.aborted) {
                    const params = { progressToken: _meta.progressToken, progress: i, total: steps, message: `step ${i}` };
                    await sendNotification({ method: 'notifications/progress', params });
                }
            }
            return text('done');
        }
    );

    server.registerTool('fail', { description: 'Fails', inputSchema: {} }, async () => ({ ...text('it failed'), isError: true }));
    server.registerTool('image', { description: 'One image', inputSchema: {} }, async () => ({ content: [PNG] }));
    server.registerTool('mixed', { description: 'Every kind of block', inputSchema: {} }, async () => ({ content: MIXED }));

    server.registerTool('ask_roots', { description: 'Lists the roots of the client', inputSchema: {} }, async () => {
        const { roots } = await server.server.listRoots();
        return text(roots.map(root => root.uri).join(','));
    });

    server.registerTool('ask_sampling', { description: 'Asks the model', inputSchema: { prompt: z.string() } }, async ({ prompt }) => {
        const messages = [{ role: 'user', content: { type: 'text', text: prompt } }];
        const { content } = await server.server.createMessage({ messages, maxTokens: 50 });
        return text(content.text);
    });

    server.registerTool('ask_elicit', { description: 'Asks the user', inputSchema: { message: z.string() } }, async ({ message }) => {
        const requestedSchema = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };
        const { action, content } = await server.server.elicitInput({ message, requestedSchema });
        return text(action === 'accept' ? `action=accept name=${content.name}` : `action=${action}`);
    });

    server.registerTool('ask_url', { description: 'Sends the user to a URL', inputSchema: { message: z.string() } }, async ({ message }) => {
        const { action } = await server.server.elicitInput({ mode: 'url', message, ...PLACE });
        if (action === 'accept') await server.server.createElicitationCompletionNotifier(PLACE.elicitationId)();
        return text(`action=${action}`);
    });

    const subscriptions = (asked, gone) => {
        server.server.setRequestHandler(SubscribeRequestSchema, async ({ params }) => (asked(params.uri), {}));
        server.server.setRequestHandler(UnsubscribeRequestSchema, async ({ params }) => (gone(params.uri), {}));
    };
    const { touch, grow } = addCatalog(server, { ResourceTemplate, completable, z, schema: shape => shape, subscriptions });
    server.registerTool('touch', { description: 'Changes a resource', inputSchema: { text: z.string() } }, async args => touch(args.text));
    server.registerTool('grow', { description: 'Adds a tool, a resource and a prompt', inputSchema: { on: z.boolean() } }, async args => grow(args.on));
    server.registerTool('log', { description: 'Logs at debug and at warning', inputSchema: {} }, async (_, { sessionId }) =>
        logLines(message => server.server.sendLoggingMessage(message, sessionId))
    );
    return server;
}

const words = process.argv.slice(2);
const make = words[0] === '--more' ? (words.shift(), makeMore) : makeFixed;
if (words[0] === '--http') {
    serveHttp(Number(words[1]), make, StreamableHTTPServerTransport, SSEServerTransport);
} else {
    process.stdin.on('end', () => process.exit(0)); // v1 does not look for the end of input itself
    await make().connect(new StdioServerTransport());
}
