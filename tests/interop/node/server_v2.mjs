// SPDX-License-Identifier: MIT
// The fixed tool set (see ../README.md) on the official TypeScript SDK v2, over stdio (both eras) or, with
// `--http PORT`, Streamable HTTP (handshake era). With `--more` before it, the second tool set instead.
// inputRequired() is a result of 2026-07-28; for older clients the SDK sends the requests itself.

import { NodeStreamableHTTPServerTransport } from '@modelcontextprotocol/node';
import { McpServer, ResourceTemplate, UrlElicitationRequiredError, completable, inputRequired, inputResponse } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';
import { MIXED, PLACE, PNG, addCatalog, countRun, logLines, sleep, text } from './fixed.mjs';
import { serveHttp } from './http.mjs';
import { addMore } from './more_server.mjs';

const none = z.object({});

function makeMore() {
    const server = new McpServer({ name: 'interop-ts-v2', version: '1.0.0' });
    const sample = (ctx, params) => ctx.mcpReq.requestSampling(params);
    const elicit = (ctx, params) => ctx.mcpReq.elicitInput(params);
    addMore(server, { z, schema: shape => z.object(shape), sample, elicit, UrlsFirst: UrlElicitationRequiredError });
    return server;
}

function makeFixed() {
    const server = new McpServer({ name: 'interop-ts-v2', version: '1.0.0' }, { capabilities: { logging: {}, resources: { subscribe: true } } });
    const tool = (name, description, inputSchema, handler, more = {}) => server.registerTool(name, { description, inputSchema, ...more }, handler);
    // Asks for one thing in the first round and answers in the second.
    const ask = (ctx, request, answer) => {
        const response = inputResponse(ctx.mcpReq.inputResponses, 'it');
        return response.kind === 'missing' ? inputRequired({ inputRequests: { it: request } }) : text(answer(response));
    };

    tool('echo', 'Gives the text back', z.object({ text: z.string() }), async args => text(args.text));
    tool(
        'add',
        'Adds two numbers',
        z.object({ a: z.number(), b: z.number() }),
        async ({ a, b }) => ({ ...text(JSON.stringify({ sum: a + b })), structuredContent: { sum: a + b } }),
        { outputSchema: z.object({ sum: z.number() }) }
    );
    tool('slow', 'Works in steps', z.object({ steps: z.int(), delay_ms: z.int() }), async ({ steps, delay_ms }, ctx) => {
        const { signal, notify, _meta } = ctx.mcpReq;
        countRun(steps);
        for (let i = 1; i <= steps && !signal.aborted; ++i) {
            await sleep(delay_ms, signal);
            if (_meta?.progressToken !== undefined && !signal.aborted) {
                const params = { progressToken: _meta.progressToken, progress: i, total: steps, message: `step ${i}` };
                await notify({ method: 'notifications/progress', params });
            }
        }
        return text('done');
    });
    tool('fail', 'Fails', none, async () => ({ ...text('it failed'), isError: true }));
    tool('image', 'One image', none, async () => ({ content: [PNG] }));
    tool('mixed', 'Every kind of block', none, async () => ({ content: MIXED }));
    tool('ask_roots', 'Lists the roots of the client', none, async (_, ctx) =>
        ask(ctx, inputRequired.listRoots(), ({ roots }) => roots.map(root => root.uri).join(','))
    );
    tool('ask_sampling', 'Asks the model', z.object({ prompt: z.string() }), async ({ prompt }, ctx) => {
        const messages = [{ role: 'user', content: { type: 'text', text: prompt } }];
        return ask(ctx, inputRequired.createMessage({ messages, maxTokens: 50 }), ({ result }) => [result.content].flat()[0].text);
    });
    tool('ask_elicit', 'Asks the user', z.object({ message: z.string() }), async ({ message }, ctx) => {
        const requestedSchema = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };
        return ask(ctx, inputRequired.elicit({ message, requestedSchema }), ({ action, content }) =>
            action === 'accept' ? `action=accept name=${content.name}` : `action=${action}`
        );
    });
    tool('ask_url', 'Sends the user to a URL', z.object({ message: z.string() }), async ({ message }, ctx) => {
        const result = ask(ctx, inputRequired.elicitUrl({ message, ...PLACE }), ({ action }) => `action=${action}`);
        // Since 2026-07-28 nobody is told.
        if (result.content?.[0].text === 'action=accept' && server.server.getNegotiatedProtocolVersion() < '2026-07-28') {
            await server.server.createElicitationCompletionNotifier(PLACE.elicitationId)();
        }
        return result;
    });

    const subscriptions = (asked, gone) => {
        server.server.setRequestHandler('resources/subscribe', async ({ params }) => (asked(params.uri), {}));
        server.server.setRequestHandler('resources/unsubscribe', async ({ params }) => (gone(params.uri), {}));
    };
    const { touch, grow } = addCatalog(server, { ResourceTemplate, completable, z, schema: shape => z.object(shape), subscriptions });
    tool('touch', 'Changes a resource', z.object({ text: z.string() }), async args => touch(args.text));
    tool('grow', 'Adds a tool, a resource and a prompt', z.object({ on: z.boolean() }), async args => grow(args.on));
    tool('log', 'Logs at debug and at warning', none, async (_, ctx) =>
        logLines(message => server.server.sendLoggingMessage(message, ctx.sessionId))
    );
    return server;
}

const words = process.argv.slice(2);
const make = words[0] === '--more' ? (words.shift(), makeMore) : makeFixed;
if (words[0] === '--http') serveHttp(Number(words[1]), make, NodeStreamableHTTPServerTransport);
else serveStdio(make);
