// SPDX-License-Identifier: MIT
// The second tool set (see ../README.md) for a client on the TypeScript SDK v1 or v2: how it answers, and its checks.

export const capabilities = { sampling: { tools: {} }, elicitation: { form: { applyDefaults: true }, url: {} } };
const TOOLS = ['ask_choices', 'ask_tools', 'ask_url', 'grow', 'url_first', 'visit'];
const DEFAULTS = { name: 'Ada', age: 36, ratio: 0.5, member: true, colour: 'green', size: 'l', tags: ['a', 'c'], days: ['mon'] };

// The model wants two tools and tells what it got of them.
export async function onSampling({ params }) {
    const { messages, tools, toolChoice } = params;
    if (tools?.[0]?.name !== 'lookup' || tools[0].inputSchema.properties.word.type !== 'string') throw new Error(`tools: ${JSON.stringify(tools)}`);
    if (toolChoice?.mode === 'required') {
        const use = (id, word) => ({ type: 'tool_use', id, name: 'lookup', input: { word } });
        return { role: 'assistant', model: 'interop-model', stopReason: 'toolUse', content: [use('use-1', 'Ada'), use('use-2', 'Bob')] };
    }
    const shape = messages.map(({ role, content }) => [role, ...[content].flat().map(block => block.type)].join(' '));
    const [question, uses, results] = messages.map(({ content }) => [content].flat());
    const paired = results?.every((block, i) => block.toolUseId === uses[i].id);
    if (shape.join() !== 'user text,assistant tool_use tool_use,user tool_result tool_result' || toolChoice?.mode !== 'none' || !paired) {
        throw new Error(`second round: ${JSON.stringify(params)}`);
    }
    const text = `${question[0].text} ${results.map(block => block.content[0].text).join(', ')}`;
    return { role: 'assistant', model: 'interop-model', stopReason: 'endTurn', content: { type: 'text', text } };
}

export async function onElicit({ params }) {
    if (params.mode === 'url') {
        if (params.message !== 'Open this' || params.url !== `https://example.com/open?id=${params.elicitationId}`) {
            throw new Error(`url: ${JSON.stringify(params)}`);
        }
        return { action: params.elicitationId === 'refused' ? 'decline' : 'accept' };
    }
    const { properties, required } = params.requestedSchema;
    if (Object.keys(properties).sort().join() !== [...Object.keys(DEFAULTS), 'note'].sort().join() || required.join() !== 'name,tags') {
        throw new Error(`form: ${JSON.stringify(params)}`);
    }
    if (params.message === 'All defaults') return { action: 'accept', content: {} };
    if (params.message === 'Too old') return { action: 'accept', content: { age: 200 } };
    const titles = [properties.size.oneOf, properties.days.items.anyOf].map(choice => choice.map(each => each.title).join());
    if (titles.join(' ') !== 'Small,Large Monday,Tuesday') throw new Error(`titles: ${titles}`);
    return { action: 'accept', content: { note: 'gr\u00fc\u00df', colour: 'red', size: 's', tags: ['b', 'c'], days: ['mon', 'tue'], age: 7 } };
}

export async function run({ check, same, expect, call, client, seen, told, textOf }) {
    await check('list', async () => {
        const { tools } = await client().listTools();
        same(tools.map(tool => tool.name).sort(), TOOLS, 'names');
    });

    await check('ask_tools', async () =>
        same(textOf(await call('ask_tools', { prompt: 'Who is it?' })), 'Who is it? Ada is a word, Bob is a word', 'text'));

    await check('ask_url', async () => {
        const method = 'notifications/elicitation/complete';
        let before = seen.length;
        same(textOf(await call('ask_url', { id: 'one' })), 'action=accept', 'text');
        same(await told(method, before, 1), [{ elicitationId: 'one' }], 'completed');
        before = seen.length;
        same(textOf(await call('ask_url', { id: 'refused' })), 'action=decline', 'text');
        same(await told(method, before, 0), [], 'completed after it');
    });

    await check('url_first', async () => {
        let failure;
        await call('url_first', { id: 'two' }).catch(error => (failure = error));
        same(failure?.code, -32042, 'code');
        const needed = { mode: 'url', message: 'Sign in first', url: 'https://example.com/sign-in?id=two', elicitationId: 'two' };
        same(failure.data.elicitations, [needed], 'URLs');
        same(failure.elicitations, [needed], `URLs of ${failure.constructor.name}`);
        const before = seen.length;
        same(textOf(await call('visit', { id: 'two' })), 'done', 'text of the visit');
        same(await told('notifications/elicitation/complete', before, 1), [{ elicitationId: 'two' }], 'completed');
        same(textOf(await call('url_first', { id: 'two' })), 'signed in', 'text');
    });

    await check('ask_choices', async () => {
        same(JSON.parse(textOf(await call('ask_choices', { message: 'All defaults' }))), DEFAULTS, 'defaults');
        const chosen = { name: 'Ada', age: 7, ratio: 0.5, member: true, colour: 'red', size: 's', tags: ['b', 'c'], days: ['mon', 'tue'], note: 'gr\u00fc\u00df' };
        same(JSON.parse(textOf(await call('ask_choices', { message: 'Choose' }))), chosen, 'chosen');
    });

    await check('choices_unfit', async () => {
        const result = await call('ask_choices', { message: 'Too old' });
        same(result.isError, true, 'isError');
        return result.content[0].text;
    });

    await check('grow', async () => {
        const { tools, resources, prompts } = client().getServerCapabilities();
        expect(tools?.listChanged && resources?.listChanged && prompts?.listChanged, 'listChanged is not declared');
        for (const [text, there] of [['grown', true], ['shrunk', false]]) {
            const before = seen.length;
            same(textOf(await call('grow', {})), text, 'text');
            for (const kind of ['tools', 'resources', 'prompts']) {
                same((await told(`notifications/${kind}/list_changed`, before, 1)).length, 1, `notices about ${kind}`);
            }
            const names = [
                (await client().listTools()).tools.map(each => each.name),
                (await client().listResources()).resources.map(each => each.name),
                (await client().listPrompts()).prompts.map(each => each.name)
            ];
            same(names.map(each => each.includes('grown')), [there, there, there], `lists when ${text}`);
            if (!there) continue;
            same(textOf(await call('grown', {})), 'I am new', 'text of the tool');
            same((await client().readResource({ uri: 'test://interop/grown' })).contents[0].text, 'a new text', 'text of the resource');
            same((await client().getPrompt({ name: 'grown' })).messages[0].content.text, 'a new prompt', 'text of the prompt');
        }
    });
}
