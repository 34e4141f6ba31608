// SPDX-License-Identifier: MIT
// mcpload - SDK-neutral load generator for MCP servers (C++20, POSIX + epoll).
//
//   mcpload stdio [options] -- CMD [ARG...]        spawn CMD, talk over its stdin/stdout
//   mcpload http  [options] URL [-- CMD [ARG...]]  Streamable HTTP; CMD, if given, is the server to spawn
//
// It does the handshake, then N tools/call requests with at most W in flight
// (http: C keep-alive connections, one request in flight on each), checks that every id is
// answered exactly once and without error, and prints one line of results.
// Only loopback addresses are accepted. Exit: 0 ok, 1 wrong answers, 2 usage, 3 transport/time-out.
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "jscan.h"

using std::string;
using std::string_view;

static const char* kUsage = "usage: mcpload stdio [options] -- CMD [ARG...]\n"
                            "       mcpload http  [options] URL [-- CMD [ARG...]]\n"
                            "  -n N            timed calls (10000)\n"
                            "  -w W            stdio: requests in flight (1)\n"
                            "  -c C            http: keep-alive connections, one request in flight each (1)\n"
                            "  -t NAME         tool (echo)\n"
                            "  -a JSON         arguments object ({\"text\":\"hi\"})\n"
                            "  -s BYTES        arguments are {\"KEY\":\"<BYTES of text>\"}; the text must come back\n"
                            "  -k KEY          that key (text)\n"
                            "  --text KIND     plain | escapes | utf8 (plain)\n"
                            "  --warmup K      untimed calls first (N/10, at most 2000)\n"
                            "  --version V     protocol version asked for (2025-06-18)\n"
                            "  --stateless     2026-07-28 form: no handshake, _meta and headers on each request\n"
                            "  --no-session    http: no initialize at all (2025-era stateless servers)\n"
                            "  --own-session   http: one session for each connection\n"
                            "  --timeout SEC   give up after (120)\n"
                            "  --pid PID       http: report CPU and RSS of this running server\n"
                            "  --label TEXT    printed with the result\n"
                            "  --json          one JSON object instead of text\n";

static uint64_t now_ns()
{
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return uint64_t(t.tv_sec) * 1000000000ull + uint64_t(t.tv_nsec);
}

struct Options
{
    bool http = false, stateless = false, json = false, own_session = false, no_session = false;
    long n = 10000, warmup = -1;
    int window = 1, conns = 1, timeout_s = 120;
    string tool = "echo", args = "{\"text\":\"hi\"}", key = "text", kind = "plain", label, url, version = "2025-06-18";
    size_t size = 0;
    pid_t pid = 0;
    std::vector<string> cmd;
} opt;

static pid_t g_child = -1;
static uint64_t g_deadline;

[[noreturn]] static void die(int code, const char* fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    fprintf(stderr, "mcpload: ");
    vfprintf(stderr, fmt, ap);
    fprintf(stderr, "\n");
    va_end(ap);
    if (g_child > 0) kill(g_child, SIGKILL);
    exit(code);
}
static bool wrong_answers();
static void check_deadline()
{
    if (now_ns() > g_deadline) die(wrong_answers() ? 1 : 3, "time-out after %d s", opt.timeout_s);
}

// ---------------------------------------------------------------- requests and answers

static string g_text, g_echo_mark; // payload as written in JSON; its start, to find it again
static string g_tail;              // all of a tools/call after its id
static const string kHead = "{\"jsonrpc\":\"2.0\",\"id\":";

static const string kClientInfo = "{\"name\":\"mcpload\",\"version\":\"1\"}";

static string meta()
{
    return "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"" + opt.version +
           "\",\"io.modelcontextprotocol/clientInfo\":" + kClientInfo +
           ",\"io.modelcontextprotocol/clientCapabilities\":{}},";
}
static string initialize_body()
{
    return kHead + "0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"" + opt.version +
           "\",\"capabilities\":{},\"clientInfo\":" + kClientInfo + "}}";
}
static const string kInitialized = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}";

static void make_payload()
{
    string args = opt.args;
    if (opt.size) {
        static const char* plain = "The quick brown fox jumps over the lazy dog 0123456789. ";
        static const char* escapes = "line \\\"one\\\"\\n\\tpath C:\\\\dir\\\\file; ";
        static const char* utf8 = "na\xc3\xafve \xe2\x82\xac"
                                  "5 \xe6\xbc\xa2\xe5\xad\x97 \xf0\x9f\x98\x80 text ";
        string unit = opt.kind == "escapes" ? escapes : opt.kind == "utf8" ? utf8 : plain;
        g_echo_mark = "mcpload-payload:";
        g_text = g_echo_mark;
        while (g_text.size() + unit.size() <= opt.size) g_text += unit;
        while (g_text.size() < opt.size) g_text += '.';
        args = "{\"" + opt.key + "\":\"" + g_text + "\"}";
    }
    g_tail = ",\"method\":\"tools/call\",\"params\":{" + (opt.stateless ? meta() : string()) + "\"name\":\"" +
             opt.tool + "\",\"arguments\":" + args + "}}";
}

// Accounting of one run: ids are 1.. in order; each phase (warm-up, timed) is drained before the next.
struct Run
{
    long next = 1, lo = 1, hi = 1, answered = 0; // this phase's ids are [lo, hi)
    long errors = 0, bad = 0, notifications = 0, server_requests = 0, reconnects = 0, compared = 0;
    uint64_t bytes_out = 0, bytes_in = 0;
    std::vector<uint64_t> sent, lat; // index id - lo
    void begin(long count)
    {
        lo = next;
        hi = next + count;
        answered = 0;
        bytes_out = bytes_in = 0;
        sent.assign(size_t(count), 0);
        lat.assign(size_t(count), 0);
    }
    bool more() const { return next < hi; }
    bool finished() const { return answered == hi - lo; }
    long take()
    {
        sent[size_t(next - lo)] = now_ns();
        return next++;
    }
    void complain(const char* what, const char* b, size_t n)
    {
        if (errors + bad < 3) fprintf(stderr, "mcpload: %s: %.*s\n", what, int(std::min<size_t>(n, 300)), b);
    }
    // Returns the id answered, or -1 (notification or request from the server: reply is then set if one is due)
    long message(const char* b, size_t n, string* reply)
    {
        jmsg m;
        if (js_msg(b, n, &m) != 0) {
            complain("not a JSON object", b, n);
            ++bad;
            return -1;
        }
        if (m.method.p) {
            if (!m.id.p) ++notifications;
            else {
                ++server_requests;
                if (reply)
                    *reply += kHead + string(m.id.p, m.id.n) +
                              (js_is(m.method, "\"ping\"")
                                   ? ",\"result\":{}}"
                                   : ",\"error\":{\"code\":-32601,\"message\":\"Method not found\"}}");
            }
            return -1;
        }
        long id = m.id.p && m.id.n < 12 ? strtol(string(m.id.p, m.id.n).c_str(), nullptr, 10) : -1;
        if (id < lo || id >= hi || id >= next || lat[size_t(id - lo)]) {
            complain("answer to an id that is not in flight", b, n);
            ++bad;
            return -1;
        }
        uint64_t d = now_ns() - sent[size_t(id - lo)];
        lat[size_t(id - lo)] = d ? d : 1;
        ++answered;
        jspan is_error = js_get(m.result, "isError");
        if (m.error.p || !m.result.p || (is_error.p && js_is(is_error, "true")) ||
            (opt.stateless && !js_is(js_get(m.result, "resultType"), "\"complete\""))) {
            complain("error answer", b, n);
            ++errors;
        } else if (opt.size && (n < opt.size || ((id <= 32 || id % 64 == 0) && !echoed(m.result)))) {
            complain("the text did not come back", b, n);
            ++bad;
        }
        return id;
    }
    bool echoed(jspan r)
    {
        if (opt.kind != "plain") return true; // a server may escape differently
        ++compared;
        auto* q = static_cast<const char*>(memmem(r.p, r.n, g_echo_mark.data(), g_echo_mark.size()));
        return q && size_t(r.p + r.n - q) >= g_text.size() && memcmp(q, g_text.data(), g_text.size()) == 0;
    }
} run;
static bool wrong_answers() { return run.errors || run.bad; }

// ---------------------------------------------------------------- the peer process

struct Peer
{
    pid_t pid = -1;
    bool ours = false;
    rusage ru{};
    long hwm_kib = 0;
    int status = 0;

    void spawn(const std::vector<string>& cmd, int in, int out)
    {
        std::vector<char*> av;
        for (auto& s : cmd) av.push_back(const_cast<char*>(s.c_str()));
        av.push_back(nullptr);
        pid = fork();
        if (pid < 0) die(3, "fork: %s", strerror(errno));
        if (pid == 0) {
            dup2(in, 0);
            dup2(out, 1);
            execvp(av[0], av.data());
            fprintf(stderr, "mcpload: exec %s: %s\n", av[0], strerror(errno));
            _exit(127);
        }
        ours = true;
        g_child = pid;
    }
    double cpu() const
    { // seconds used by the process so far
        clockid_t c;
        timespec t;
        if (pid <= 0 || clock_getcpuclockid(pid, &c) || clock_gettime(c, &t)) return 0;
        return double(t.tv_sec) + double(t.tv_nsec) * 1e-9;
    }
    void read_hwm()
    { // VmHWM: unlike ru_maxrss it is not inherited from the forking parent
        if (pid <= 0) return;
        char path[64], line[256];
        snprintf(path, sizeof path, "/proc/%d/status", int(pid));
        if (FILE* f = fopen(path, "r")) {
            while (fgets(line, sizeof line, f))
                if (!strncmp(line, "VmHWM:", 6)) hwm_kib = atol(line + 6);
            fclose(f);
        }
    }
    void finish(bool term)
    {
        if (!ours) return;
        if (term) kill(pid, SIGTERM);
        for (int i = 0; i < 500; ++i) {
            if (wait4(pid, &status, WNOHANG, &ru) == pid) {
                g_child = -1;
                return;
            }
            usleep(10000);
            if (i == 300) kill(pid, SIGTERM);
        }
        kill(pid, SIGKILL);
        wait4(pid, &status, 0, &ru);
        g_child = -1;
    }
} peer;

static void nonblock(int fd) { fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK); }

// Writes messages [from, upto) as {head+id, tail} pairs without copying the tail; keeps its place.
struct Framer
{
    string ctl; // whole control messages, sent between calls
    size_t ctl_off = 0;
    long from = 1, upto = 1; // ids handed over, not yet written
    size_t off = 0;          // bytes of message `from` already written
    string end;              // "\n" for stdio
    bool idle() const { return from == upto && ctl_off == ctl.size(); }
    // true: all written; false: would block
    bool flush(int fd)
    {
        while (!idle()) {
            ssize_t w;
            if (off == 0 && ctl_off < ctl.size()) {
                w = write(fd, ctl.data() + ctl_off, ctl.size() - ctl_off);
                if (w > 0) {
                    ctl_off += size_t(w);
                    if (ctl_off == ctl.size()) ctl.clear(), ctl_off = 0;
                    continue;
                }
            } else {
                constexpr int kMax = 32;
                char head[kMax][48];
                iovec v[kMax * 2];
                int k = 0;
                for (long id = from; id < upto && k < kMax; ++id, ++k) {
                    int h = snprintf(head[k], sizeof head[k], "%s%ld", kHead.c_str(), id);
                    v[2 * k] = {head[k], size_t(h)};
                    v[2 * k + 1] = {const_cast<char*>(g_tail.data()), g_tail.size()};
                }
                int first = 0;
                size_t skip = off;
                while (skip >= v[first].iov_len) skip -= v[first++].iov_len;
                v[first].iov_base = static_cast<char*>(v[first].iov_base) + skip;
                v[first].iov_len -= skip;
                w = writev(fd, v + first, 2 * k - first);
                if (w > 0) {
                    run.bytes_out += uint64_t(w);
                    size_t left = size_t(w) + off;
                    for (int i = 0; i < k; ++i) {
                        size_t len = strlen(head[i]) + g_tail.size();
                        if (left < len) break;
                        left -= len;
                        ++from;
                    }
                    off = left;
                    continue;
                }
            }
            if (w < 0 && errno == EINTR) continue;
            if (w < 0 && errno == EAGAIN) return false;
            die(3, "write to the server: %s", strerror(errno));
        }
        return true;
    }
};

// ---------------------------------------------------------------- stdio

struct Stdio
{
    int wfd = -1, rfd = -1, ep = -1;
    bool armed = false;
    Framer out;
    std::vector<char> buf = std::vector<char>(1 << 20);
    size_t b = 0, scan = 0, e = 0; // unread bytes [b, e); no newline in [b, scan)

    void start()
    {
        int in[2], o[2];
        if (pipe2(in, O_CLOEXEC) || pipe2(o, O_CLOEXEC)) die(3, "pipe: %s", strerror(errno));
        peer.spawn(opt.cmd, in[0], o[1]);
        close(in[0]);
        close(o[1]);
        wfd = in[1];
        rfd = o[0];
        nonblock(wfd);
        nonblock(rfd);
        ep = epoll_create1(EPOLL_CLOEXEC);
        epoll_event ev{};
        ev.events = EPOLLIN;
        ev.data.fd = rfd;
        epoll_ctl(ep, EPOLL_CTL_ADD, rfd, &ev);
        ev.events = 0;
        ev.data.fd = wfd;
        epoll_ctl(ep, EPOLL_CTL_ADD, wfd, &ev);
        out.end = "\n";
        g_tail += '\n';
    }
    void flush()
    {
        bool blocked = !out.flush(wfd);
        if (blocked != armed) {
            epoll_event ev{};
            ev.events = blocked ? uint32_t(EPOLLOUT) : 0u;
            ev.data.fd = wfd;
            epoll_ctl(ep, EPOLL_CTL_MOD, wfd, &ev);
            armed = blocked;
        }
    }
    // one whole line if there is one
    bool line(string_view* l)
    {
        if (scan < e)
            if (auto* q = static_cast<char*>(memchr(buf.data() + scan, '\n', e - scan))) {
                size_t p = size_t(q - buf.data());
                *l = {buf.data() + b, p - b};
                b = scan = p + 1;
                return true;
            }
        scan = e;
        return false;
    }
    void read_some()
    {
        if (b == e) b = scan = e = 0;
        if (buf.size() - e < (64u << 10)) {
            if (b > buf.size() / 2) {
                memmove(buf.data(), buf.data() + b, e - b);
                e -= b;
                scan -= b;
                b = 0;
            } else buf.resize(buf.size() * 2);
        }
        ssize_t r = read(rfd, buf.data() + e, buf.size() - e);
        if (r > 0) {
            e += size_t(r);
            run.bytes_in += uint64_t(r);
        } else if (r == 0) die(3, "the server closed its output");
        else if (errno != EAGAIN && errno != EINTR) die(3, "read: %s", strerror(errno));
    }
    void wait()
    {
        epoll_event ev[4];
        int k = epoll_wait(ep, ev, 4, 1000);
        if (k <= 0) return check_deadline();
        for (int i = 0; i < k; ++i) {
            if (ev[i].data.fd == rfd) read_some();
            else if (ev[i].events & EPOLLERR) die(3, "the server closed its input");
        }
        flush();
    }
    void handshake()
    {
        out.ctl = initialize_body() + "\n";
        flush();
        string_view l;
        for (;;) {
            while (!line(&l)) wait();
            jmsg m;
            if (js_msg(l.data(), l.size(), &m) == 0 && js_is(m.id, "0") && !m.method.p) {
                if (!m.result.p) die(3, "initialize failed: %.*s", int(std::min<size_t>(l.size(), 500)), l.data());
                break;
            }
        }
        out.ctl = kInitialized + "\n";
        flush();
    }
    void phase(long count)
    {
        run.begin(count);
        out.from = out.upto = run.next;
        for (int i = 0; i < opt.window && run.more(); ++i) out.upto = run.take() + 1;
        flush();
        string_view l;
        string reply;
        while (!run.finished()) {
            bool sent = false;
            while (line(&l)) {
                if (l.empty()) continue;
                if (run.message(l.data(), l.size(), &reply) >= 0 && run.more()) {
                    out.upto = run.take() + 1;
                    sent = true;
                }
                if (!reply.empty()) {
                    out.ctl += reply + "\n";
                    reply.clear();
                    sent = true;
                }
                if (run.bad > 100) die(1, "too many wrong answers");
            }
            if (sent) flush();
            if (run.finished()) break;
            wait();
        }
    }
};

// ---------------------------------------------------------------- http

struct Conn
{
    int fd = -1;
    Framer out;  // unused for ids; `raw` below is what is written
    string head; // headers + start of the body up to and with the id
    bool with_tail = false;
    size_t off = 0;
    long id = -1;
    bool busy = false, armed = false;
    string session;
    // answer
    std::vector<char> in = std::vector<char>(64 << 10);
    size_t e = 0;
    size_t hdr = 0; // end of the headers, 0 while they are incomplete
    int status = 0;
    bool chunked = false, sse = false, close_after = false;
    long length = -1;
    size_t chunk_pos = 0; // place in `in` of the next chunk header
    string body;          // chunked: decoded so far
    string_view answer;
};

struct Http
{
    sockaddr_in addr{};
    string host, path;
    int ep = -1;
    std::vector<std::unique_ptr<Conn>> conns;
    string base, call_headers;

    void parse_url()
    {
        string u = opt.url;
        if (u.rfind("http://", 0) != 0) die(2, "URL must begin with http://");
        u = u.substr(7);
        size_t s = u.find('/');
        host = u.substr(0, s);
        path = s == string::npos ? "/" : u.substr(s);
        size_t c = host.rfind(':');
        string h = host.substr(0, c);
        int port = c == string::npos ? 80 : atoi(host.c_str() + c + 1);
        if (h == "localhost") h = "127.0.0.1";
        addr.sin_family = AF_INET;
        addr.sin_port = htons(uint16_t(port));
        if (inet_pton(AF_INET, h.c_str(), &addr.sin_addr) != 1 || (ntohl(addr.sin_addr.s_addr) >> 24) != 127)
            die(2, "only loopback IPv4 addresses (127.0.0.0/8, localhost) are load-tested");
        base = "POST " + path + " HTTP/1.1\r\nHost: " + host +
               "\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n";
    }
    bool dial(Conn& c)
    {
        c.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (connect(c.fd, reinterpret_cast<sockaddr*>(&addr), sizeof addr)) {
            close(c.fd);
            c.fd = -1;
            return false;
        }
        int one = 1;
        setsockopt(c.fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        nonblock(c.fd);
        epoll_event ev{};
        ev.events = EPOLLIN;
        ev.data.ptr = &c;
        epoll_ctl(ep, EPOLL_CTL_ADD, c.fd, &ev);
        c.armed = false;
        return true;
    }
    void start()
    {
        parse_url();
        ep = epoll_create1(EPOLL_CLOEXEC);
        if (!opt.cmd.empty()) {
            int null = open("/dev/null", O_RDWR | O_CLOEXEC);
            peer.spawn(opt.cmd, null, 2);
        } else if (opt.pid) peer.pid = opt.pid;
        for (int i = 0; i < opt.conns; ++i) {
            conns.push_back(std::make_unique<Conn>());
            while (!dial(*conns.back())) {
                int st;
                if (opt.cmd.empty()) die(3, "connect: %s", strerror(errno));
                if (waitpid(peer.pid, &st, WNOHANG) == peer.pid) die(3, "the server ended (status %d)", st);
                check_deadline();
                usleep(2000);
            }
        }
    }
    string headers_for(const Conn& c, bool call)
    {
        string h = base;
        h += "MCP-Protocol-Version: " + opt.version + "\r\n";
        if (!c.session.empty()) h += "Mcp-Session-Id: " + c.session + "\r\n";
        if (call && opt.stateless) h += "Mcp-Method: tools/call\r\nMcp-Name: " + opt.tool + "\r\n";
        return h;
    }
    void put(Conn& c)
    { // write what is left of the request
        for (;;) {
            iovec v[2] = {{c.head.data(), c.head.size()}, {g_tail.data(), c.with_tail ? g_tail.size() : 0}};
            size_t total = v[0].iov_len + v[1].iov_len, skip = c.off;
            if (c.off == total) break;
            int first = 0;
            while (skip >= v[first].iov_len) skip -= v[first++].iov_len;
            v[first].iov_base = static_cast<char*>(v[first].iov_base) + skip;
            v[first].iov_len -= skip;
            ssize_t w = writev(c.fd, v + first, 2 - first);
            if (w > 0) {
                c.off += size_t(w);
                run.bytes_out += uint64_t(w);
            } else if (errno == EINTR) continue;
            else if (errno == EAGAIN) {
                arm(c, true);
                return;
            } else die(3, "send: %s", strerror(errno));
        }
        arm(c, false);
    }
    void arm(Conn& c, bool out)
    {
        if (c.armed == out) return;
        epoll_event ev{};
        ev.events = out ? uint32_t(EPOLLIN | EPOLLOUT) : uint32_t(EPOLLIN);
        ev.data.ptr = &c;
        epoll_ctl(ep, EPOLL_CTL_MOD, c.fd, &ev);
        c.armed = out;
    }
    void reset(Conn& c)
    {
        c.off = c.e = c.hdr = c.chunk_pos = 0;
        c.status = 0;
        c.chunked = c.sse = c.close_after = false;
        c.length = -1;
        c.body.clear();
        c.busy = true;
    }
    void call(Conn& c)
    {
        reset(c);
        c.id = run.take();
        char id[24];
        int k = snprintf(id, sizeof id, "%ld", c.id);
        c.head = call_headers_of(c);
        c.head += "Content-Length: ";
        c.head += std::to_string(kHead.size() + size_t(k) + g_tail.size());
        c.head += "\r\n\r\n";
        c.head += kHead;
        c.head += id;
        c.with_tail = true;
        put(c);
    }
    const string& call_headers_of(Conn& c)
    {
        if (opt.own_session) return call_headers = headers_for(c, true);
        if (call_headers.empty()) call_headers = headers_for(c, true);
        return call_headers;
    }
    static bool header(string_view h, const char* name, string_view* v)
    {
        size_t n = strlen(name);
        if (h.size() <= n || h[n] != ':' || strncasecmp(h.data(), name, n)) return false;
        *v = h.substr(n + 1);
        while (!v->empty() && (v->front() == ' ' || v->front() == '\t')) v->remove_prefix(1);
        return true;
    }
    // true when the whole answer is there
    bool parse(Conn& c, bool eof)
    {
        if (!c.hdr) {
            auto* q = static_cast<char*>(memmem(c.in.data(), c.e, "\r\n\r\n", 4));
            if (!q) return false;
            c.hdr = size_t(q - c.in.data()) + 4;
            string_view h(c.in.data(), c.hdr - 2), v;
            c.status = h.size() > 12 ? atoi(h.data() + 9) : 0;
            for (size_t p = h.find("\r\n") + 2; p < h.size();) {
                size_t q2 = h.find("\r\n", p);
                string_view l = h.substr(p, q2 - p);
                p = q2 + 2;
                if (header(l, "content-length", &v)) c.length = atol(string(v).c_str());
                else if (header(l, "transfer-encoding", &v)) c.chunked = v.find("chunked") != string_view::npos;
                else if (header(l, "content-type", &v)) c.sse = v.rfind("text/event-stream", 0) == 0;
                else if (header(l, "connection", &v))
                    c.close_after = v.size() == 5 && !strncasecmp(v.data(), "close", 5);
                else if (header(l, "mcp-session-id", &v)) {
                    if (c.id == 0) c.session = string(v);
                }
            }
            c.chunk_pos = c.hdr;
            if (c.status == 204 || (c.status >= 100 && c.status < 200)) c.length = 0;
        }
        if (c.chunked) {
            for (;;) {
                const char* p = c.in.data() + c.chunk_pos;
                size_t have = c.e - c.chunk_pos;
                auto* nl = static_cast<const char*>(memchr(p, '\n', have));
                if (!nl) return false;
                size_t n = strtoul(string(p, nl).c_str(), nullptr, 16), line = size_t(nl + 1 - p);
                if (have < line + n + 2) return false;
                if (n == 0) {
                    c.answer = c.body;
                    return true;
                }
                c.body.append(p + line, n);
                c.chunk_pos += line + n + 2;
            }
        }
        if (c.length >= 0) {
            if (c.e - c.hdr < size_t(c.length)) return false;
            c.answer = {c.in.data() + c.hdr, size_t(c.length)};
            return true;
        }
        if (!eof) return false;
        c.answer = {c.in.data() + c.hdr, c.e - c.hdr};
        return true;
    }
    // reads what there is; true when the answer is complete
    bool get(Conn& c)
    {
        for (;;) {
            if (c.in.size() - c.e < (32u << 10)) c.in.resize(c.in.size() * 2);
            ssize_t r = read(c.fd, c.in.data() + c.e, c.in.size() - c.e);
            if (r < 0 && errno == EINTR) continue;
            if (r < 0 && errno == EAGAIN) return false;
            if (r <= 0) {
                if (!c.busy) { // the server closed an idle connection
                    redial(c);
                    return false;
                }
                if (c.e && parse(c, true)) {
                    c.close_after = true;
                    return true;
                }
                die(3, "the server closed a connection with a request in flight");
            }
            c.e += size_t(r);
            run.bytes_in += uint64_t(r);
            if (parse(c, false)) return true;
        }
    }
    void redial(Conn& c)
    {
        close(c.fd);
        ++run.reconnects;
        if (!dial(c)) die(3, "reconnect: %s", strerror(errno));
    }
    // The JSON-RPC messages in an answer
    template <class F>
    static void messages(Conn& c, F f)
    {
        if (!c.sse) {
            if (!c.answer.empty()) f(c.answer);
            return;
        }
        string joined;
        string_view data, s = c.answer;
        int parts = 0;
        while (!s.empty()) {
            size_t q = s.find('\n');
            string_view l = s.substr(0, q);
            s = q == string_view::npos ? string_view() : s.substr(q + 1);
            if (!l.empty() && l.back() == '\r') l.remove_suffix(1);
            if (l.empty()) {
                if (parts && !data.empty()) f(data);
                parts = 0;
                data = {};
                continue;
            }
            string_view v;
            if (!header(l, "data", &v)) continue;
            if (++parts == 1) data = v;
            else {
                joined = string(data) + "\n" + string(v);
                data = joined;
            }
        }
        if (parts && !data.empty()) f(data);
    }
    void exchange(Conn& c, const string& body, long id)
    { // one request outside the timed part
        reset(c);
        c.id = id;
        c.head = (id == 0 ? base : headers_for(c, false)) + "Content-Length: " + std::to_string(body.size()) +
                 "\r\n\r\n" + body;
        c.with_tail = false;
        put(c);
        while (!get(c)) {
            if (c.off < c.head.size()) put(c);
            pollfd p{c.fd, POLLIN, 0};
            poll(&p, 1, 1000);
            check_deadline();
        }
        c.busy = false;
        if (c.status / 100 != 2)
            die(3, "HTTP %d: %.*s", c.status, int(std::min<size_t>(c.answer.size(), 500)), c.answer.data());
    }
    void handshake()
    {
        for (auto& p : conns) {
            Conn& c = *p;
            if (&c != conns[0].get() && !opt.own_session) {
                c.session = conns[0]->session;
                continue;
            }
            exchange(c, initialize_body(), 0);
            bool ok = false;
            messages(c, [&](string_view m) {
                jmsg j;
                if (js_msg(m.data(), m.size(), &j) == 0 && j.result.p) ok = true;
            });
            if (!ok) die(3, "initialize failed: %.*s", int(std::min<size_t>(c.answer.size(), 500)), c.answer.data());
            if (c.close_after) redial(c);
            exchange(c, kInitialized, -1);
            if (c.close_after) redial(c);
        }
    }
    void phase(long count)
    {
        run.begin(count);
        for (auto& c : conns)
            if (run.more()) call(*c);
        epoll_event ev[64];
        while (!run.finished()) {
            int k = epoll_wait(ep, ev, 64, 1000);
            if (k <= 0) check_deadline();
            for (int i = 0; i < k; ++i) {
                Conn& c = *static_cast<Conn*>(ev[i].data.ptr);
                if (ev[i].events & EPOLLOUT) put(c);
                if (!(ev[i].events & ~uint32_t(EPOLLOUT)) || !get(c)) continue;
                c.busy = false;
                bool got = false;
                if (c.status == 200)
                    messages(c, [&](string_view m) {
                        long id = run.message(m.data(), m.size(), nullptr);
                        if (id == c.id) got = true;
                        else if (id >= 0) ++run.bad;
                    });
                if (!got) {
                    fprintf(stderr, "mcpload: HTTP %d without an answer to %ld: %.*s\n", c.status, c.id,
                            int(std::min<size_t>(c.answer.size(), 300)), c.answer.data());
                    die(1, "stopped");
                }
                if (c.close_after) redial(c);
                if (run.more()) call(c);
            }
        }
    }
};

// ---------------------------------------------------------------- main

static double self_cpu()
{
    rusage r;
    getrusage(RUSAGE_SELF, &r);
    return double(r.ru_utime.tv_sec + r.ru_stime.tv_sec) + double(r.ru_utime.tv_usec + r.ru_stime.tv_usec) * 1e-6;
}

static void parse(int argc, char** argv)
{
    if (argc < 2) die(2, "\n%s", kUsage);
    string mode = argv[1];
    if (mode == "http") opt.http = true;
    else if (mode != "stdio") die(2, "\n%s", kUsage);
    bool version_given = false;
    for (int i = 2; i < argc; ++i) {
        string a = argv[i];
        auto val = [&]() -> string {
            if (i + 1 >= argc) die(2, "%s needs a value", a.c_str());
            return argv[++i];
        };
        if (a == "--") {
            for (++i; i < argc; ++i) opt.cmd.push_back(argv[i]);
        } else if (a == "-n") opt.n = atol(val().c_str());
        else if (a == "-w") opt.window = atoi(val().c_str());
        else if (a == "-c") opt.conns = atoi(val().c_str());
        else if (a == "-t") opt.tool = val();
        else if (a == "-a") opt.args = val();
        else if (a == "-s") opt.size = size_t(atol(val().c_str()));
        else if (a == "-k") opt.key = val();
        else if (a == "--text") opt.kind = val();
        else if (a == "--warmup") opt.warmup = atol(val().c_str());
        else if (a == "--version") opt.version = val(), version_given = true;
        else if (a == "--stateless") opt.stateless = true;
        else if (a == "--no-session") opt.no_session = true;
        else if (a == "--own-session") opt.own_session = true;
        else if (a == "--timeout") opt.timeout_s = atoi(val().c_str());
        else if (a == "--pid") opt.pid = atoi(val().c_str());
        else if (a == "--label") opt.label = val();
        else if (a == "--json") opt.json = true;
        else if (opt.http && opt.url.empty() && a[0] != '-') opt.url = a;
        else die(2, "unknown option %s\n%s", a.c_str(), kUsage);
    }
    if (opt.stateless && !version_given) opt.version = "2026-07-28";
    if (opt.http ? opt.url.empty() : opt.cmd.empty()) die(2, "\n%s", kUsage);
    if (opt.n < 1 || opt.window < 1 || opt.conns < 1 || opt.conns > 4096 || opt.timeout_s < 1) die(2, "bad number");
    if (opt.size && opt.size < 32) die(2, "-s needs at least 32");
    if (opt.warmup < 0) opt.warmup = std::min(opt.n / 10, 2000L);
}

template <class T>
static void drive(T& t, double* secs, double* pcpu, double* gcpu, double* ready_ms)
{
    uint64_t t0 = now_ns();
    t.start();
    if (!opt.stateless && !opt.no_session) t.handshake();
    else if (opt.warmup == 0) opt.warmup = 1;
    *ready_ms = double(now_ns() - t0) * 1e-6;
    if (opt.warmup) t.phase(opt.warmup);
    if (opt.stateless || opt.no_session) *ready_ms = 0;
    double p0 = peer.cpu(), g0 = self_cpu();
    t0 = now_ns();
    t.phase(opt.n);
    *secs = double(now_ns() - t0) * 1e-9;
    *pcpu = peer.cpu() - p0;
    *gcpu = self_cpu() - g0;
    peer.read_hwm();
}

int main(int argc, char** argv)
{
    parse(argc, argv);
    signal(SIGPIPE, SIG_IGN);
    g_deadline = now_ns() + uint64_t(opt.timeout_s) * 1000000000ull;
    make_payload();
    double secs, pcpu, gcpu, ready;
    if (opt.http) {
        Http h;
        drive(h, &secs, &pcpu, &gcpu, &ready);
        for (auto& c : h.conns) close(c->fd);
        peer.finish(true);
    } else {
        Stdio s;
        drive(s, &secs, &pcpu, &gcpu, &ready);
        close(s.wfd);
        peer.finish(false);
        close(s.rfd);
    }
    auto lat = run.lat;
    std::sort(lat.begin(), lat.end());
    auto q = [&](double f) { return double(lat[size_t(f * double(lat.size() - 1))]) * 1e-3; };
    double total_cpu = double(peer.ru.ru_utime.tv_sec + peer.ru.ru_stime.tv_sec) +
                       double(peer.ru.ru_utime.tv_usec + peer.ru.ru_stime.tv_usec) * 1e-6;
    const char* fmt =
        opt.json
            ? "{\"label\":\"%s\",\"mode\":\"%s\",\"calls\":%ld,\"in_flight\":%d,\"size\":%zu,\"seconds\":%.4f,\"rps\":%"
              ".1f,"
              "\"p50_us\":%.1f,\"p99_us\":%.1f,\"max_us\":%.1f,\"bytes_out\":%llu,\"bytes_in\":%llu,\"errors\":%ld,"
              "\"bad\":%ld,\"notifications\":%ld,\"reconnects\":%ld,\"peer_hwm_kib\":%ld,\"peer_maxrss_kib\":%ld,"
              "\"peer_cpu_s\":%.4f,\"peer_total_cpu_s\":%.4f,\"gen_cpu_s\":%.4f,\"ready_ms\":%.1f}\n"
            : "%s mode=%s calls=%ld in_flight=%d size=%zu seconds=%.4f rps=%.1f p50_us=%.1f p99_us=%.1f max_us=%.1f "
              "bytes_out=%llu bytes_in=%llu errors=%ld bad=%ld notifications=%ld reconnects=%ld peer_hwm_kib=%ld "
              "peer_maxrss_kib=%ld peer_cpu_s=%.4f peer_total_cpu_s=%.4f gen_cpu_s=%.4f ready_ms=%.1f\n";
    printf(fmt, opt.label.c_str(), opt.http ? "http" : "stdio", opt.n, opt.http ? opt.conns : opt.window, opt.size,
           secs, double(opt.n) / secs, q(.5), q(.99), q(1), (unsigned long long)run.bytes_out,
           (unsigned long long)run.bytes_in, run.errors, run.bad, run.notifications, run.reconnects, peer.hwm_kib,
           peer.ru.ru_maxrss, pcpu, total_cpu, gcpu, ready);
    return run.errors || run.bad ? 1 : 0;
}
