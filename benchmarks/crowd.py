# SPDX-License-Identifier: MIT
"""Many clients of one HTTP server: idle connections, idle sessions, open streams, sessions that nobody ends. Used by
run.py; the server runs in a process of its own."""
import json
import resource
import socket
import time

NEEDED_DESCRIPTORS = 3500
INITIALIZE = json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
    "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "crowd", "version": "1"}}})
INITIALIZED = '{"jsonrpc":"2.0","method":"notifications/initialized"}'
PING = '{"jsonrpc":"2.0","id":7,"method":"ping"}'


def raise_descriptor_limit():
    """For this process and the servers that it starts."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < NEEDED_DESCRIPTORS:
        raise RuntimeError(f"this needs {NEEDED_DESCRIPTORS} open descriptors, and the hard limit here is {hard}")
    if soft < NEEDED_DESCRIPTORS:
        resource.setrlimit(resource.RLIMIT_NOFILE, (NEEDED_DESCRIPTORS, hard))


class Connection:
    """One keep-alive connection."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), 30)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer = b""

    def close(self):
        self.socket.close()

    def send(self, method, body="", session=None, accept="application/json, text/event-stream"):
        data = body.encode()
        head = f"{method} /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: {accept}\r\n"
        if session:
            head += f"Mcp-Session-Id: {session}\r\n"
        if data:
            head += f"Content-Type: application/json\r\nContent-Length: {len(data)}\r\n"
        self.socket.sendall(head.encode() + b"\r\n" + data)

    def more(self):
        got = self.socket.recv(1 << 16)
        if not got:
            raise RuntimeError("the server closed a connection")
        self.buffer += got

    def head(self):
        """Status and fields of the next answer."""
        while b"\r\n\r\n" not in self.buffer:
            self.more()
        head, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
        lines = head.decode("latin-1").split("\r\n")
        fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
        return int(lines[0].split()[1]), fields

    def answer(self):
        status, fields = self.head()
        size = int(fields.get("content-length", "0"))
        while len(self.buffer) < size:
            self.more()
        body, self.buffer = self.buffer[:size], self.buffer[size:]
        return status, fields, body

    def post(self, body, session=None):
        self.send("POST", body, session)
        return self.answer()

    def initialize(self):
        """The id of a new session."""
        status, fields, body = self.post(INITIALIZE)
        if status != 200 or "result" not in json.loads(body):
            raise RuntimeError(f"initialize: {status} {body[:200]!r}")
        session = fields["mcp-session-id"]
        status, _, _ = self.post(INITIALIZED, session)
        if status != 202:
            raise RuntimeError(f"notifications/initialized: {status}")
        return session

    def ping(self, session):
        begin = time.perf_counter()
        status, _, body = self.post(PING, session)
        if status != 200 or json.loads(body).get("result") != {}:
            raise RuntimeError(f"ping: {status} {body[:200]!r}")
        return time.perf_counter() - begin

    def open_stream(self, session):
        self.send("GET", session=session, accept="text/event-stream")
        status, fields = self.head()
        if status != 200 or not fields["content-type"].startswith("text/event-stream"):
            raise RuntimeError(f"GET: {status} {fields}")


def slope(server, count, add):
    """KiB of user-space memory for each of `count` things that `add` adds, past the first fifth of them."""
    first = count // 5
    for _ in range(first):
        add()
    before = server.kib("VmRSS")
    for _ in range(count - first):
        add()
    return (server.kib("VmRSS") - before) / (count - first)


def crowd(server, count):
    """`count` idle connections, sessions and streams at once, then pings. Gives the memory of each and the ping times."""
    raise_descriptor_limit()
    me = Connection(server.port)
    mine = me.initialize()
    open_connections = []

    def add_connection():
        each = Connection(server.port)
        open_connections.append(each)
        each.ping(mine)

    def add_stream():
        each = Connection(server.port)
        open_connections.append(each)
        each.open_stream(me.initialize())

    got = {"connection_kib": slope(server, count, add_connection), "session_kib": slope(server, count, me.initialize),
           "stream_kib": slope(server, count, add_stream), "pings": [me.ping(mine) for _ in range(100)]}
    got["pings"] += [each.ping(mine) for each in open_connections[:count:10]]
    for each in open_connections:
        each.close()
    me.close()
    return got


def forgotten_sessions(server, count):
    """`count` times initialize and no DELETE, more than the server keeps: who is in use goes on, a newcomer is served,
    and the first that was forgotten is gone. Gives the newcomer's time in seconds."""
    user, streaming, stream, crowd_of = (Connection(server.port) for _ in range(4))
    used = user.initialize()
    user.ping(used)
    streamed = streaming.initialize()
    stream.open_stream(streamed)
    forgotten = []
    for _ in range(count):
        status, fields, _ = crowd_of.post(INITIALIZE)
        if status != 200:
            raise RuntimeError(f"initialize: {status}")
        forgotten.append(fields["mcp-session-id"])
    begin = time.perf_counter()
    newcomer = Connection(server.port)
    newcomer.ping(newcomer.initialize())
    served = time.perf_counter() - begin
    user.ping(used)
    streaming.ping(streamed)
    status, _, _ = crowd_of.post(PING, forgotten[0])
    if status != 404:
        raise RuntimeError(f"the session that was forgotten first answers {status}, not 404")
    crowd_of.ping(forgotten[-1])
    for each in (user, streaming, stream, crowd_of, newcomer):
        each.close()
    return served
