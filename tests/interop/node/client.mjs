// SPDX-License-Identifier: MIT
// A client on the official TypeScript SDK (v1 or v2). It starts a server over stdio, or connects to one over
// Streamable HTTP (over the HTTP+SSE of 2024-11-05 where the URL ends with /sse), checks the fixed tool set (see ../README.md) and prints one JSON line per check. Exit status 0
// only if all are ok.
//
//   node client.mjs v1|v2 [--era legacy|auto|modern] [--lenient] [--killed | --more] -- CMD ARGS... | URL

import { isDeepStrictEqual } from 'node:util';
import * as more from './more_client.mjs';

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
const TOOLS = ['add', 'ask_elicit', 'ask_roots', 'ask_sampling', 'ask_url', 'echo', 'fail', 'grow', 'image', 'log', 'mixed', 'slow', 'touch'];
let ROOTS = ['file:///interop/a', 'file:///interop/b%20b'];
const TRICKY = 'first "quoted" \\ back\nsecond\r\n\ttab \u0001 gr\u00fc\u00df \u65e5\u672c\u8a9e \u{1F600} \u2028 </script> end';

const argv = process.argv.slice(2);
const split = argv.indexOf('--');
const options = argv.slice(0, split);
const [command, ...args] = argv.slice(split + 1);
const sdk = options[0];
if (split < 0 || !command || !['v1', 'v2'].includes(sdk)) {
    console.error('usage: client.mjs v1|v2 [--era legacy|auto|modern] [--lenient] [--killed | --more] -- CMD ARGS... | URL');
    process.exit(2);
}
const era = options.includes('--era') ? options[options.indexOf('--era') + 1] : 'legacy';
const lenient = options.includes('--lenient');
const withMore = options.includes('--more'); // the second tool set
const http = command.startsWith('http:');
const old = http && command.endsWith('/sse');

let allOk = true;
function report(check, ok, detail) {
    allOk &&= ok;
    console.log(JSON.stringify({ check, ok, detail: String(detail) }));
}
async function check(name, body) {
    try {
        report(name, true, (await body()) ?? '');
    } catch (error) {
        report(name, false, error?.stack?.split('\n').slice(0, 3).join(' | ') ?? error);
    }
}
function expect(condition, what) {
    if (!condition) throw new Error(what);
}
function same(got, want, what) {
    expect(isDeepStrictEqual(got, want), `${what}: got ${JSON.stringify(got)}, wanted ${JSON.stringify(want)}`);
}
const sleep = ms => new Promise(resolve => setTimeout(resolve, ms));
const textOf = result => {
    same(result.content.length, 1, 'number of blocks');
    same(result.content[0].type, 'text', 'type of the block');
    return result.content[0].text;
};

// ---- the two SDKs ------------------------------------------------------------------------------------------------

const capabilities = { roots: { listChanged: true }, sampling: {}, elicitation: { form: {}, url: {} } };
const info = { name: `interop-${sdk}`, version: '1.0.0' };

async function onRoots() {
    return { roots: ROOTS.map(uri => ({ uri })) };
}
async function onSampling(request) {
    const { messages, maxTokens } = request.params;
    same(maxTokens, 50, 'maxTokens');
    same(messages.length, 1, 'number of messages');
    same(messages[0].role, 'user', 'role');
    const block = Array.isArray(messages[0].content) ? messages[0].content[0] : messages[0].content;
    return { role: 'assistant', model: 'interop-model', stopReason: 'endTurn', content: { type: 'text', text: `model says: ${block.text}` } };
}
async function onElicit(request) {
    const { message, requestedSchema, mode, url } = request.params;
    if (mode === 'url') {
        same([message, url], ['Open it?', 'https://example.com/interop'], 'URL');
        return { action: 'accept' };
    }
    if (message === 'Decline this') return { action: 'decline' };
    if (message === 'Cancel this') return { action: 'cancel' };
    same(message, 'Your name?', 'message');
    same(requestedSchema.type, 'object', 'type of the form');
    same(requestedSchema.properties.name.type, 'string', 'type of the field');
    return { action: 'accept', content: { name: 'Ada' } };
}

const handlers = withMore ? more : { capabilities, onSampling, onElicit };
const stdioOptions = { command, args, env: process.env, stderr: 'inherit' };
const httpOptions = {
    reconnectionOptions: { initialReconnectionDelay: 100, maxReconnectionDelay: 500, reconnectionDelayGrowFactor: 2, maxRetries: 5 }
};
let newClient, newTransport;
if (sdk === 'v1') {
    const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
    const { SSEClientTransport } = await import('@modelcontextprotocol/sdk/client/sse.js');
    const { StdioClientTransport } = await import('@modelcontextprotocol/sdk/client/stdio.js');
    const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/sdk/client/streamableHttp.js');
    const types = await import('@modelcontextprotocol/sdk/types.js');
    newClient = () => {
        const made = new Client(info, { capabilities: handlers.capabilities });
        if (!withMore) made.setRequestHandler(types.ListRootsRequestSchema, onRoots);
        made.setRequestHandler(types.CreateMessageRequestSchema, handlers.onSampling);
        made.setRequestHandler(types.ElicitRequestSchema, handlers.onElicit);
        return made;
    };
    newTransport = () => {
        if (!http) return new StdioClientTransport(stdioOptions);
        return old ? new SSEClientTransport(new URL(command)) : new StreamableHTTPClientTransport(new URL(command), httpOptions);
    };
} else {
    const { Client, SSEClientTransport, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
    const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio');
    const mode = era === 'modern' ? { pin: '2026-07-28' } : era;
    newClient = () => {
        const made = new Client(info, { capabilities: handlers.capabilities, versionNegotiation: { mode, probe: { timeoutMs: 5000 } } });
        if (!withMore) made.setRequestHandler('roots/list', onRoots);
        made.setRequestHandler('sampling/createMessage', handlers.onSampling);
        made.setRequestHandler('elicitation/create', handlers.onElicit);
        return made;
    };
    newTransport = () => {
        if (!http) return new StdioClientTransport(stdioOptions);
        return old ? new SSEClientTransport(new URL(command)) : new StreamableHTTPClientTransport(new URL(command), httpOptions);
    };
}

const seen = []; // everything the server sends after the handshake
let heard = () => {}; // looks again at what was seen
let client, transport, negotiated;

async function connect() {
    client = newClient();
    transport = newTransport();
    const setVersion = transport.setProtocolVersion?.bind(transport);
    transport.setProtocolVersion = version => {
        negotiated = version; // v1 has no other way to learn it
        setVersion?.(version);
    };
    await client.connect(transport);
    const inner = transport.onmessage;
    transport.onmessage = (message, extra) => {
        seen.push(message);
        heard();
        inner(message, extra);
    };
    negotiated = client.getNegotiatedProtocolVersion?.() ?? negotiated;
}
// The argument order differs: v1 has a result schema in the middle.
const call = (name, toolArguments, requestOptions) =>
    sdk === 'v1'
        ? client.callTool({ name, arguments: toolArguments }, undefined, requestOptions)
        : client.callTool({ name, arguments: toolArguments }, requestOptions);

// ---- the checks --------------------------------------------------------------------------------------------------

await check('initialize', async () => {
    await connect();
    if (era === 'legacy') same(negotiated, '2025-11-25', 'protocol version');
    if (era === 'modern') same(negotiated, '2026-07-28', 'protocol version');
    const server = client.getServerVersion();
    expect(server?.name && server?.version, `server info: ${JSON.stringify(server)}`);
    expect(client.getServerCapabilities()?.tools, 'tools capability');
    return `${server.name} ${server.version} at ${negotiated}`;
});
if (!allOk) process.exit(1);
const modern = negotiated >= '2026-07-28';

// What the SDK would not do by itself: a request for a session, whosever it is.
async function raw(method, session, message) {
    const headers = { accept: 'application/json, text/event-stream', 'mcp-protocol-version': negotiated, 'mcp-session-id': session };
    if (message) headers['content-type'] = 'application/json';
    const response = await fetch(command, { method, headers, body: message && JSON.stringify(message) });
    await response.body?.cancel();
    return response.status;
}
const echoes = async text => same(textOf(await call('echo', { text })), text, 'text');
async function isLost(failing) {
    let failure;
    await failing.catch(error => (failure = error));
    expect(failure, 'a call in a session that is gone has succeeded');
    same(failure.status ?? failure.code, 404, `status of ${failure.message}`);
    return failure.message;
}

if (options.includes('--killed')) {
    // Somebody kills the server in the middle of this call and starts it again.
    await check('killed', async () => {
        let failure;
        await call('slow', { steps: 9, delay_ms: 100 }, { timeout: 3000, onprogress: () => {} }).catch(error => (failure = error));
        expect(failure, 'the call ended as if nothing had happened');
        return failure.message;
    });
    await check('lost', async () => isLost(echoes('lost')));
    await check('again', async () => {
        await client.close();
        await connect();
        await echoes('again');
        await client.close();
    });
    process.exit(allOk ? 0 : 1);
}

if (withMore) {
    await more.run({ check, same, expect, call, client: () => client, seen, told, textOf });
    await check('close', () => client.close());
    process.exit(allOk ? 0 : 1);
}

await check('ping', async () => {
    if (modern) return 'this revision has no ping';
    same(await client.ping(), {}, 'result');
});

await check('list', async () => {
    const { tools } = await client.listTools();
    same(tools.map(tool => tool.name).sort(), TOOLS, 'names');
    for (const tool of tools) {
        same(tool.inputSchema.type, 'object', `inputSchema of ${tool.name}`);
        expect(tool.description, `description of ${tool.name}`);
    }
    const { echo, add, slow } = Object.fromEntries(tools.map(tool => [tool.name, tool.inputSchema]));
    same(echo.properties.text.type, 'string', 'echo.text');
    same(echo.required, ['text'], 'required of echo');
    same(add.properties.a.type, 'number', 'add.a');
    same([...add.required].sort(), ['a', 'b'], 'required of add');
    same(slow.properties.steps.type, 'integer', 'slow.steps');
});

await check('echo', async () => {
    for (const text of [TRICKY, '', 'x'.repeat(300000)]) {
        const result = await call('echo', { text });
        expect(!result.isError, 'isError');
        same(textOf(result), text, 'text');
    }
});

await check('add', async () => {
    for (const [a, b] of [[2, 3], [0.5, -2.25], [1e15, 1]]) {
        const result = await call('add', { a, b });
        same(result.structuredContent, { sum: a + b }, 'structuredContent');
        same(JSON.parse(textOf(result)), { sum: a + b }, 'text');
    }
});

await check('fail', async () => {
    const result = await call('fail', {});
    same(result.isError, true, 'isError');
    same(textOf(result), 'it failed', 'text');
});

await check('image', async () => {
    const { content } = await call('image', {});
    same(content.length, 1, 'number of blocks');
    same(content[0].type, 'image', 'type');
    same(content[0].mimeType, 'image/png', 'mimeType');
    same(Buffer.from(content[0].data, 'base64').subarray(0, 8).toString('hex'), '89504e470d0a1a0a', 'PNG signature');
});

await check('mixed', async () => {
    const { content } = await call('mixed', {});
    same(content.map(block => block.type), ['text', 'image', 'audio', 'resource_link', 'resource'], 'kinds');
    const [text, image, audio, link, embedded] = content;
    expect(text.text, 'text');
    expect(Buffer.from(image.data, 'base64').equals(Buffer.from(PNG, 'base64')), 'bytes of the image');
    expect(audio.mimeType === 'audio/wav' && Buffer.from(audio.data, 'base64').subarray(0, 4).toString() === 'RIFF', 'audio');
    expect(new URL(link.uri) && link.name, 'resource link');
    expect(new URL(embedded.resource.uri) && embedded.resource.text, 'embedded resource');
});

await check('progress', async () => {
    const events = [];
    let done = false;
    let before = seen.length;
    const result = await call('slow', { steps: 4, delay_ms: 50 }, { onprogress: event => events.push({ ...event, late: done }) });
    done = true;
    same(textOf(result), 'done', 'text');
    // On the wire: all four, in order, before the answer.
    const wire = seen.slice(before).map(message => (message.method ? message.params : 'answer'));
    const token = wire[0]?.progressToken;
    const step = i => ({ progressToken: token, progress: i, total: 4, message: `step ${i}` });
    for (const params of wire) delete params._meta; // 2026-07-28 may put something there
    same(wire, [step(1), step(2), step(3), step(4), 'answer'], 'wire');
    // At the callback: the SDKs drop the last one when it comes in one read with the answer.
    expect(events.length >= 2, `only ${events.length} events`);
    same(events.map(event => event.progress), [1, 2, 3, 4].slice(0, events.length), 'progress');
    expect(!events.some(event => event.late), 'progress after the result');

    before = seen.length;
    same(textOf(await call('slow', { steps: 2, delay_ms: 10 })), 'done', 'text without a token');
    same(seen.slice(before).filter(message => message.method === 'notifications/progress'), [], 'progress without a token');
    return `${events.length} of 4 events`;
});

await check('cancel', async () => {
    const abort = new AbortController();
    const started = Date.now();
    let failure;
    try {
        await call('slow', { steps: 100, delay_ms: 100 }, { signal: abort.signal, onprogress: () => abort.abort('enough') });
    } catch (error) {
        failure = error;
    }
    expect(failure, 'the call ended as if nobody had cancelled it');
    expect(Date.now() - started < 5000, 'the abort took too long');
    same(textOf(await call('echo', { text: 'still here' })), 'still here', 'echo after it');
    await sleep(300); // what was under way may still arrive
    const before = seen.length;
    await sleep(500);
    same(seen.slice(before), [], 'messages of a call that was cancelled');
    return failure.message;
});

await check('bad_arguments', async () => {
    const result = await call('echo', { text: 5 });
    same(result.isError, true, 'isError');
    same(textOf(await call('echo', { text: 'still here' })), 'still here', 'echo after it');
    return result.content[0].text;
});

await check('unknown_tool', async () => {
    let result;
    try {
        result = await call('no_such_tool', {});
    } catch (error) {
        same(error.code, -32602, 'code');
        return error.message;
    }
    expect(lenient && result.isError, `no protocol error but ${JSON.stringify(result)}`);
    return `tool error: ${result.content[0].text}`;
});

await check('ask_roots', async () => same(textOf(await call('ask_roots', {})), ROOTS.join(','), 'text'));

await check('ask_sampling', async () =>
    same(textOf(await call('ask_sampling', { prompt: 'Why "so"?' })), 'model says: Why "so"?', 'text'));

await check('ask_elicit', async () =>
    same(textOf(await call('ask_elicit', { message: 'Your name?' })), 'action=accept name=Ada', 'text'));

await check('elicit_refused', async () => {
    same(textOf(await call('ask_elicit', { message: 'Decline this' })), 'action=decline', 'text');
    same(textOf(await call('ask_elicit', { message: 'Cancel this' })), 'action=cancel', 'text');
});

await check('ask_url', async () => {
    const before = seen.length;
    same(textOf(await call('ask_url', { message: 'Open it?' })), 'action=accept', 'text');
    if (modern) return 'this revision does not tell of the end';
    same(await told('notifications/elicitation/complete', before, 1), [{ elicitationId: 'interop-1' }], 'completed');
});

await check('roots_changed', async () => {
    if (modern) return 'this revision has no notice of it';
    ROOTS = ['file:///interop/c'];
    await client.sendRootsListChanged();
    same(textOf(await call('ask_roots', {})), 'file:///interop/c', 'text');
});

// What an object has of these members.
const part = (object, ...names) => Object.fromEntries(names.filter(name => name in object).map(name => [name, object[name]]));
const byUri = (a, b) => (a.uri < b.uri ? -1 : 1);
const byName = (a, b) => (a.name < b.name ? -1 : 1);
async function failure(of, codes, what) {
    let error;
    await of.catch(thrown => (error = thrown));
    expect(error, `${what} has succeeded`);
    expect(lenient || modern || codes.includes(error.code), `${what}: code ${error.code}, wanted ${codes}`);
    return error.message;
}
async function told(method, since, count) {
    const found = () => seen.slice(since).filter(message => message.method === method);
    await new Promise(resolve => {
        const late = setTimeout(resolve, count ? 5000 : 300); // 0.3 s for one that should not come
        heard = () => {
            if (found().length < (count || 1)) return;
            clearTimeout(late);
            resolve();
        };
        heard();
    });
    return found().map(message => message.params);
}

await check('resources', async () => {
    const { resources } = await client.listResources();
    same(
        resources.map(each => part(each, 'uri', 'name', 'description', 'mimeType')).sort(byUri),
        [
            { uri: 'test://interop/bytes', name: 'bytes', description: 'An image', mimeType: 'image/png' },
            { uri: 'test://interop/text', name: 'text', description: 'A text', mimeType: 'text/plain' },
            { uri: 'test://interop/watched', name: 'watched', description: 'What touch has written', mimeType: 'text/plain' }
        ],
        'resources'
    );
});

await check('templates', async () => {
    const { resourceTemplates } = await client.listResourceTemplates();
    same(
        resourceTemplates.map(each => part(each, 'uriTemplate', 'name', 'description', 'mimeType')),
        [{ uriTemplate: 'test://interop/items/{id}', name: 'items', description: 'An item by its id', mimeType: 'text/plain' }],
        'templates'
    );
});

const read = async uri => {
    const { contents } = await client.readResource({ uri });
    same(contents.length, 1, `contents of ${uri}`);
    return part(contents[0], 'uri', 'mimeType', 'text', 'blob');
};
await check('read', async () => {
    for (const [uri, rest] of [
        ['test://interop/text', { mimeType: 'text/plain', text: 'a text: gr\u00fc\u00df \u65e5\u672c\u8a9e \u{1F600}' }],
        ['test://interop/bytes', { mimeType: 'image/png', blob: PNG }],
        ['test://interop/items/7', { mimeType: 'text/plain', text: 'item 7' }]
    ]) {
        same(await read(uri), { uri, ...rest }, uri);
    }
});

await check('missing_resource', async () => {
    const codes = [sdk === 'v2' ? -32602 : -32002]; // v2 shows the older code as the one of 2026-07-28
    await failure(client.readResource({ uri: 'other://nothing' }), codes, 'reading what no template fits');
    return failure(client.readResource({ uri: 'test://interop/items/none' }), codes, 'reading an item that is not there');
});

await check('subscribe', async () => {
    if (modern) return 'this revision has other subscriptions';
    const uri = 'test://interop/watched';
    await client.subscribeResource({ uri });
    let before = seen.length;
    same(textOf(await call('touch', { text: 'once' })), 'touched', 'text');
    same(await told('notifications/resources/updated', before, 1), [{ uri }], 'updates');
    same((await read(uri)).text, 'once', 'text after the update');
    await client.unsubscribeResource({ uri });
    before = seen.length;
    same(textOf(await call('touch', { text: 'untouched' })), 'touched', 'text');
    same(await told('notifications/resources/updated', before, 0), [], 'updates after it');
});

await check('prompts', async () => {
    const { prompts } = await client.listPrompts();
    same(
        prompts
            .sort(byName)
            .map(({ name, description, arguments: all }) => [name, description, (all ?? []).map(each => [each.name, each.description, each.required ?? false])]),
        [
            ['greet', 'Greets somebody', [['name', 'Whom to greet', true], ['tone', 'How to greet', false]]],
            ['pictured', 'A prompt with an image and a resource', []],
            ['plain', 'A prompt without arguments', []]
        ],
        'prompts'
    );
});

await check('prompt', async () => {
    const text = (role, value) => ({ role, content: { type: 'text', text: value } });
    for (const [name, given, messages] of [
        ['plain', undefined, [text('user', 'a plain prompt')]],
        ['greet', { name: 'Ada' }, [text('user', 'Greet Ada'), text('assistant', 'I will')]],
        ['greet', { name: 'Ada', tone: 'formal' }, [text('user', 'Greet Ada in a formal tone'), text('assistant', 'I will')]],
        [
            'pictured',
            undefined,
            [
                { role: 'user', content: { type: 'image', mimeType: 'image/png', data: PNG } },
                { role: 'user', content: { type: 'resource', resource: { uri: 'test://interop/embedded', mimeType: 'text/plain', text: 'embedded text' } } }
            ]
        ]
    ]) {
        same((await client.getPrompt({ name, arguments: given })).messages, messages, name);
    }
});

await check('bad_prompt', async () => {
    await failure(client.getPrompt({ name: 'greet', arguments: {} }), [-32602], 'a prompt without its argument');
    return failure(client.getPrompt({ name: 'no_such_prompt' }), [-32602], 'a prompt that is not there');
});

await check('complete', async () => {
    const greet = { type: 'ref/prompt', name: 'greet' };
    const items = { type: 'ref/resource', uri: 'test://interop/items/{id}' };
    for (const [ref, name, value, context, values] of [
        [greet, 'name', 'A', undefined, ['Ada', 'Alan']],
        [greet, 'name', 'x', undefined, []],
        [greet, 'tone', 'f', { name: 'Ada' }, ['formal to Ada', 'friendly to Ada']],
        [greet, 'tone', 'fo', { name: 'Ada' }, ['formal to Ada']],
        [greet, 'tone', 'f', undefined, []],
        [items, 'id', 'al', undefined, ['alpha', 'alphabet']]
    ]) {
        const params = { ref, argument: { name, value }, ...(context && { context: { arguments: context } }) };
        same((await client.complete(params)).completion.values, values, `${name}=${value}`);
    }
});

await check('logging', async () => {
    if (modern) return 'this revision has no level of a session';
    const debug = { level: 'debug', logger: 'interop', data: 'a debug line' };
    const warning = { level: 'warning', logger: 'interop', data: 'a warning' };
    for (const [level, lines] of [['debug', [debug, warning]], ['warning', [warning]], ['error', []]]) {
        await client.setLoggingLevel(level);
        const before = seen.length;
        same(textOf(await call('log', {})), 'logged', 'text');
        same(await told('notifications/message', before, lines.length), lines, `at ${level}`);
    }
});

await check('list_changed', async () => {
    if (modern) return 'this revision has other subscriptions';
    for (const on of [true, false]) {
        const before = seen.length;
        same(textOf(await call('grow', { on })), on ? 'grown' : 'shrunk', 'text');
        for (const kind of ['tools', 'resources', 'prompts']) {
            expect((await told(`notifications/${kind}/list_changed`, before, 1)).length, `nobody told of the ${kind}`);
        }
        const lists = [(await client.listTools()).tools, (await client.listResources()).resources, (await client.listPrompts()).prompts];
        same(lists.map(list => list.some(each => each.name === 'grown')), [on, on, on], `there after ${on}`);
    }
});

if (old) {
    await check('close', async () => {
        const endpoint = transport._endpoint; // there is no other way to learn it
        await client.close();
        const message = { jsonrpc: '2.0', id: 'late', method: 'ping' };
        const headers = { 'content-type': 'application/json' };
        let status;
        for (let i = 0; i < 250 && status !== 404; ++i) {
            if (i) await sleep(20); // nobody tells when the server has seen the end of the stream
            const response = await fetch(endpoint, { method: 'POST', headers, body: JSON.stringify(message) });
            await response.body?.cancel();
            status = response.status;
        }
        same(status, 404, 'status after it');
    });
} else if (http) {
    // The connection is cut after the second step. What follows comes once, and in order.
    await check('resume', async () => {
        const before = seen.length;
        same(textOf(await call('slow', { steps: 7, delay_ms: 50 }, { onprogress: () => {} })), 'done', 'text');
        const wire = seen.slice(before).map(message => message.params?.progress ?? 'answer');
        same(wire, [1, 2, 3, 4, 5, 6, 7, 'answer'], 'wire');
    });
    await check('close', async () => {
        const session = transport.sessionId;
        await transport.terminateSession();
        await client.close();
        same(await raw('POST', session, { jsonrpc: '2.0', id: 'late', method: 'ping' }), 404, 'status after it');
    });
    await check('expired', async () => {
        await connect();
        const status = await raw('DELETE', transport.sessionId);
        expect(status === 200 || status === 204, `status of DELETE: ${status}`);
        const detail = await isLost(echoes('lost'));
        await client.close();
        await connect();
        await echoes('again');
        await transport.terminateSession();
        await client.close();
        return detail;
    });
} else {
    await check('close', async () => {
        const started = Date.now();
        await client.close();
        const took = Date.now() - started;
        expect(took < 1900, `the server did not leave at end of input (${took} ms)`); // the SDK sends TERM after 2 s
    });
}

process.exit(allOk ? 0 : 1);
