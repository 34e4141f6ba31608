// SPDX-License-Identifier: MIT
// The second tool set (see ../README.md) for a server on the TypeScript SDK v1 or v2; what differs is given: `schema`
// makes one of a shape; `sample` and `elicit` ask the client in the name of a call; `UrlsFirst` is the error -32042.

import { text } from './fixed.mjs';

const lookup = {
    name: 'lookup',
    description: 'Looks a word up',
    inputSchema: { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] }
};

// Every kind of choice, and a default of everything.
const choices = {
    type: 'object',
    properties: {
        name: { type: 'string', title: 'Name', minLength: 1, default: 'Ada' },
        age: { type: 'integer', minimum: 0, maximum: 150, default: 36 },
        ratio: { type: 'number', default: 0.5 },
        member: { type: 'boolean', default: true },
        colour: { type: 'string', enum: ['red', 'green'], default: 'green' },
        size: { type: 'string', oneOf: [{ const: 's', title: 'Small' }, { const: 'l', title: 'Large' }], default: 'l' },
        tags: { type: 'array', items: { type: 'string', enum: ['a', 'b', 'c'] }, minItems: 1, default: ['a', 'c'] },
        days: { type: 'array', items: { anyOf: [{ const: 'mon', title: 'Monday' }, { const: 'tue', title: 'Tuesday' }] }, default: ['mon'] },
        note: { type: 'string' }
    },
    required: ['name', 'tags']
};

const page = id => ({ mode: 'url', message: 'Sign in first', url: `https://example.com/sign-in?id=${id}`, elicitationId: id });

export function addMore(server, { z, schema, sample, elicit, UrlsFirst }) {
    const tool = (name, description, shape, handler) => server.registerTool(name, { description, inputSchema: schema(shape) }, handler);
    const completed = id => server.server.createElicitationCompletionNotifier(id)();

    tool('ask_tools', 'Has the model use a tool', { prompt: z.string() }, async ({ prompt }, call) => {
        const question = { role: 'user', content: { type: 'text', text: prompt } };
        const wanted = await sample(call, { messages: [question], maxTokens: 50, tools: [lookup], toolChoice: { mode: 'required' } });
        const results = [wanted.content].flat().map(({ id, input }) => ({
            type: 'tool_result',
            toolUseId: id,
            content: [{ type: 'text', text: `${input.word} is a word` }]
        }));
        const messages = [question, { role: 'assistant', content: wanted.content }, { role: 'user', content: results }];
        const said = await sample(call, { messages, maxTokens: 50, tools: [lookup], toolChoice: { mode: 'none' } });
        return text([said.content].flat()[0].text);
    });

    tool('ask_url', 'Sends the user to a URL', { id: z.string() }, async ({ id }, call) => {
        const url = `https://example.com/open?id=${id}`;
        const { action } = await elicit(call, { mode: 'url', message: 'Open this', url, elicitationId: id });
        if (action === 'accept') await completed(id);
        return text(`action=${action}`);
    });

    const visitors = new Set();
    tool('url_first', 'Needs a visit to a URL', { id: z.string() }, async ({ id }) => {
        if (!visitors.has(id)) throw new UrlsFirst([page(id)]);
        return text('signed in');
    });
    tool('visit', 'Is what happens at that URL', { id: z.string() }, async ({ id }) => {
        visitors.add(id);
        await completed(id);
        return text('done');
    });

    tool('ask_choices', 'Asks the user with every kind of choice', { message: z.string() }, async ({ message }, call) => {
        const { content } = await elicit(call, { mode: 'form', message, requestedSchema: choices });
        return text(JSON.stringify(content));
    });

    let grown;
    const add = (name, toolText, resourceText, promptText) => [
        server.registerResource(name, `test://interop/${name}`, { mimeType: 'text/plain' }, async uri => ({
            contents: [{ uri: String(uri), mimeType: 'text/plain', text: resourceText }]
        })),
        server.registerPrompt(name, { description: 'Is there' }, async () => ({
            messages: [{ role: 'user', content: { type: 'text', text: promptText } }]
        })),
        ...(toolText ? [tool(name, 'Was not there before', {}, async () => text(toolText))] : [])
    ];
    add('there', undefined, 'a text', 'a prompt');
    tool('grow', 'Changes all lists', {}, async () => {
        if (grown) {
            for (const each of grown) each.remove();
            grown = undefined;
            return text('shrunk');
        }
        grown = add('grown', 'I am new', 'a new text', 'a new prompt');
        return text('grown');
    });
}
