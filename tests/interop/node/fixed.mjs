// SPDX-License-Identifier: MIT
// What the two TypeScript servers have in common.

import { appendFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

export const PNG = {
    type: 'image',
    mimeType: 'image/png',
    data: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=='
};
export const MIXED = [
    { type: 'text', text: 'mixed' },
    PNG,
    { type: 'audio', mimeType: 'audio/wav', data: 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=' },
    { type: 'resource_link', uri: 'file:///interop/linked.txt', name: 'linked.txt', mimeType: 'text/plain' },
    { type: 'resource', resource: { uri: 'test://interop/embedded', mimeType: 'text/plain', text: 'embedded text' } }
];
// Where `ask_url` sends the user.
export const PLACE = { url: 'https://example.com/interop', elicitationId: 'interop-1' };
export const text = value => ({ content: [{ type: 'text', text: value }] });
export const sleep = (ms, signal) => delay(ms, undefined, { signal }).catch(() => {});
// For counting how often `slow` has run, whatever became of its answer.
export const countRun = steps => process.env.INTEROP_RUNS && appendFileSync(process.env.INTEROP_RUNS, `slow ${steps}\n`);

// The resources, prompts and what goes with them (see ../README.md), alike for both SDKs: what differs is given.
// `schema` makes one of a shape; `subscriptions(asked, gone)` has the two called with a URI. Gives what the tools `touch` and
// `grow` do.
export function addCatalog(server, { ResourceTemplate, completable, z, schema, subscriptions }) {
    const of = (uri, mimeType, rest) => ({ contents: [{ uri: String(uri), mimeType, ...rest }] });
    const plain = 'text/plain';
    server.registerResource('bytes', 'test://interop/bytes', { description: 'An image', mimeType: PNG.mimeType }, async uri =>
        of(uri, PNG.mimeType, { blob: PNG.data })
    );
    server.registerResource('text', 'test://interop/text', { description: 'A text', mimeType: plain }, async uri =>
        of(uri, plain, { text: 'a text: gr\u00fc\u00df \u65e5\u672c\u8a9e \u{1F600}' })
    );
    const watched = 'test://interop/watched';
    server.registerResource('watched', watched, { description: 'What touch has written', mimeType: plain }, async uri =>
        of(uri, plain, { text: touched })
    );
    const ids = value => ['alpha', 'alphabet', 'beta'].filter(id => id.startsWith(value));
    const items = new ResourceTemplate('test://interop/items/{id}', { list: undefined, complete: { id: ids } });
    server.registerResource('items', items, { description: 'An item by its id', mimeType: plain }, async (uri, { id }) => {
        if (id === 'none') throw Object.assign(new Error('no such item'), { code: -32002 });
        return of(uri, plain, { text: `item ${id}` });
    });

    const uris = new Set(); // of this session
    subscriptions(uri => uris.add(uri), uri => uris.delete(uri));
    const touch = async value => {
        touched = value;
        if (uris.has(watched)) await server.server.sendResourceUpdated({ uri: watched });
        return text('touched');
    };

    const said = (role, value) => ({ role, content: { type: 'text', text: value } });
    const name = completable(z.string().describe('Whom to greet'), value => ['Ada', 'Alan', 'Grace'].filter(each => each.startsWith(value)));
    const tones = (value, context) => {
        const to = context?.arguments?.name;
        return to ? [`formal to ${to}`, `friendly to ${to}`].filter(each => each.startsWith(value)) : [];
    };
    const inner = completable(z.string(), tones);
    const tone = completable(inner.optional().describe('How to greet'), tones); // v1 looks at it, v2 inside of it
    server.registerPrompt('greet', { description: 'Greets somebody', argsSchema: schema({ name, tone }) }, async given => ({
        messages: [said('user', `Greet ${given.name}${given.tone ? ` in a ${given.tone} tone` : ''}`), said('assistant', 'I will')]
    }));
    server.registerPrompt('pictured', { description: 'A prompt with an image and a resource' }, async () => ({
        messages: [
            { role: 'user', content: PNG },
            { role: 'user', content: MIXED[4] }
        ]
    }));
    server.registerPrompt('plain', { description: 'A prompt without arguments' }, async () => ({ messages: [said('user', 'a plain prompt')] }));

    let more = [];
    const grow = async on => {
        more.forEach(each => each.remove());
        more = !on ? [] : [
            server.registerTool('grown', { description: 'Was not always there', inputSchema: schema({}) }, async () => text('grown')),
            server.registerResource('grown', 'test://interop/grown', { mimeType: plain }, async uri => of(uri, plain, { text: 'grown' })),
            server.registerPrompt('grown', {}, async () => ({ messages: [said('user', 'grown')] }))
        ];
        return text(on ? 'grown' : 'shrunk'); // the SDK tells the client
    };
    return { touch, grow };
}
let touched = 'untouched';
export async function logLines(send) {
    await send({ level: 'debug', logger: 'interop', data: 'a debug line' });
    await send({ level: 'warning', logger: 'interop', data: 'a warning' });
    return text('logged');
}
