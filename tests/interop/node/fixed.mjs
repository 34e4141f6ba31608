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
export const text = value => ({ content: [{ type: 'text', text: value }] });
export const sleep = (ms, signal) => delay(ms, undefined, { signal }).catch(() => {});
// For counting how often `slow` has run, whatever became of its answer.
export const countRun = steps => process.env.INTEROP_RUNS && appendFileSync(process.env.INTEROP_RUNS, `slow ${steps}\n`);
