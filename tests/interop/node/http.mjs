// SPDX-License-Identifier: MIT
// Serves one of the TypeScript servers over Streamable HTTP: a session and an event store for each client. With
// `OldTransport`, also over the HTTP+SSE of 2024-11-05, at /sse and /messages.

import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';

// The one among the examples of SDK v1 orders events by millisecond and chance.
class EventStore {
    events = []; // [stream, message]; the id of an event is its place

    async storeEvent(stream, message) {
        return String(this.events.push([stream, message]) - 1);
    }
    async getStreamIdForEventId(id) {
        return this.events[Number(id)]?.[0];
    }
    async replayEventsAfter(id, { send }) {
        const stream = this.events[Number(id)][0];
        for (let i = Number(id) + 1; i < this.events.length; ++i) {
            if (this.events[i][0] === stream) await send(String(i), this.events[i][1]);
        }
        return stream;
    }
}

// `make` gives a new McpServer. The URL is the first line of standard output.
export function serveHttp(port, make, Transport, OldTransport) {
    const sessions = new Map();
    const streams = new Map(); // of the old transport
    const serveOld = async (request, response, url) => {
        if (url.pathname === '/sse' && request.method === 'GET') {
            const transport = new OldTransport('/messages', response);
            streams.set(transport.sessionId, transport);
            response.on('close', () => streams.delete(transport.sessionId));
            return make().connect(transport);
        }
        const transport = url.pathname === '/messages' && streams.get(url.searchParams.get('sessionId'));
        if (transport) return transport.handlePostMessage(request, response);
        response.writeHead(url.pathname === '/sse' ? 405 : 404).end();
    };
    const open = async () => {
        const transport = new Transport({
            sessionIdGenerator: () => randomUUID(),
            eventStore: new EventStore(),
            retryInterval: 100,
            onsessioninitialized: id => sessions.set(id, transport),
            onsessionclosed: id => sessions.delete(id)
        });
        await make().connect(transport);
        return transport;
    };
    const http = createServer(async (request, response) => {
        const url = new URL(request.url, 'http://localhost');
        if (OldTransport && url.pathname !== '/mcp') return serveOld(request, response, url);
        const id = request.headers['mcp-session-id'];
        const transport = id ? sessions.get(id) : await open();
        if (transport) return transport.handleRequest(request, response);
        response.writeHead(404, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32001, message: 'Session not found' } }));
    });
    http.listen(port, '127.0.0.1', () => console.log(`http://127.0.0.1:${http.address().port}/mcp`));
}
