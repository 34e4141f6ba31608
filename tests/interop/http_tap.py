# SPDX-License-Identifier: MIT
"""For cases over HTTP: a server process, and what stands between it and its client, keeps what goes through, and cuts
or kills at a chosen moment."""

import contextlib
import itertools
import os
import re
import signal
import socket
import subprocess
import tempfile
import threading
import time


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Served:
    """A server process that prints its URL; with `port` it is one that was told its port and prints what it likes."""

    def __init__(self, command, env=None, port=None):
        self.out = tempfile.TemporaryFile()
        self.child = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=self.out,
                                      stderr=subprocess.STDOUT, env=dict(os.environ, **(env or {})),
                                      start_new_session=True)
        until = time.monotonic() + 20
        while not self.ready(port):
            if self.child.poll() is not None or time.monotonic() > until:
                self.kill()
                raise RuntimeError(f"{' '.join(map(str, command))} does not serve: {self.said()[-300:]}")
            time.sleep(0.01)

    def ready(self, port):
        if port is None:
            url = re.search(r"http://127\.0\.0\.1:(\d+)/mcp\n", self.said())
            self.port = url and int(url[1])
            return url
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", port), 1).close()
            self.port = port
            return True

    def said(self):
        return os.pread(self.out.fileno(), 1 << 20, 0).decode(errors="replace")

    def kill(self):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.child.pid, signal.SIGKILL)
        self.child.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()


class Requests:
    """Takes apart what a client wrote on one connection."""

    def __init__(self, found):
        self.rest, self.found = b"", found

    def feed(self, data):
        self.rest += data
        try:
            while self.one():
                pass
        except ValueError:
            self.found.append(("malformed", {}, self.rest))
            self.rest = b""

    def one(self):
        head, end, rest = self.rest.partition(b"\r\n\r\n")
        if not end:
            return False
        first, *lines = head.decode("latin-1").split("\r\n")
        fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        body = b""
        if fields.get("transfer-encoding", "").lower() == "chunked":
            size = -1
            while size:
                line, end, rest = rest.partition(b"\r\n")
                size = int(line.split(b";")[0], 16) if end else 0
                if not end or len(rest) < size + 2:
                    return False
                body, rest = body + rest[:size], rest[size + 2:]
        else:
            size = int(fields.get("content-length", "0"))
            if len(rest) < size:
                return False
            body, rest = rest[:size], rest[size:]
        self.rest = rest
        self.found.append((first.split(" ")[0], fields, body))
        return True


class HttpTap:
    """Listens on 127.0.0.1 for the server on `upstream`. While that is None, who comes has to wait."""

    def __init__(self, upstream):
        self.entrance = threading.Condition()
        self.upstream = upstream
        self.requests = []  # (method, fields with names in lower case, body), of all connections
        self.log = []  # (connection, "> " or "< ", bytes)
        self.watched = []  # (pattern, action)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}/mcp"
        self.lock = threading.Lock()
        self.open = set()
        threading.Thread(target=self.accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        for each in list(self.open):
            self.end(each)

    def lead_to(self, upstream):
        """Where whoever comes is led from now on."""
        with self.entrance:
            self.upstream = upstream
            self.entrance.notify_all()

    def once(self, pattern, action):
        """When the server sent `pattern`, and before the client gets it; where `action` is true, the connection is
        cut behind it."""
        self.watched.append((re.compile(pattern), action))

    def session(self):
        """The id of the session that was used last."""
        return next((fields["mcp-session-id"] for _, fields, _ in reversed(self.requests)
                     if "mcp-session-id" in fields), None)

    def dump(self):
        with self.lock:
            return b"".join(b"--- %d %s\n%s\n" % (number, mark, data) for number, mark, data in self.log)

    def accept(self):
        with contextlib.suppress(OSError):
            for number in itertools.count(1):
                client, _ = self.listener.accept()
                self.open.add(client)
                threading.Thread(target=self.join, args=(client, number), daemon=True).start()

    def join(self, client, number):
        try:
            with self.entrance:
                if not self.entrance.wait_for(lambda: self.upstream is not None, 60):
                    return self.end(client)
            server = socket.create_connection(("127.0.0.1", self.upstream))
        except OSError:
            return self.end(client)
        self.open.add(server)
        with contextlib.suppress(OSError):  # one that was closed at the end of a run, as `copy` finds out, too
            for each in (client, server):
                each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        requests = Requests(self.requests)
        threading.Thread(target=self.copy, args=(server, client, number, b"< ", self.watcher()), daemon=True).start()
        self.copy(client, server, number, b"> ", requests.feed)

    def watcher(self):
        last = b""

        def watch(data):
            nonlocal last
            last = (last + data)[-8192:]
            for each in list(self.watched):
                if each[0].search(last):
                    self.watched.remove(each)
                    return each[1]()
            return False

        return watch

    def copy(self, source, sink, number, mark, look):
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                with self.lock:
                    self.log.append((number, mark, data))
                    cut = look(data)
                sink.sendall(data)
                if cut:
                    break
        self.end(source)
        self.end(sink)

    def end(self, connection):
        with contextlib.suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)  # what the other thread reads from ends, too
        connection.close()
        self.open.discard(connection)
