/* SPDX-License-Identifier: MIT */
/* rawpeer - the floor: a tiny C echo responder (stdio, or HTTP over epoll).
     rawpeer stdio        one JSON-RPC message a line
     rawpeer http PORT    127.0.0.1 only
     rawpeer fixed PORT   as http, but the same small answer whatever is asked (no echo); id still rewritten
   Requests in mcpload's own key order take a path without any JSON work: the id's digits and the
   bytes of the text are copied between constants. Others (an SDK's client) are scanned with jscan.h. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>
#include "jscan.h"

#define LIT(s) (s), sizeof(s) - 1
static int fixed_mode;
typedef struct { struct iovec v[8]; int n; size_t len; } parts;
static void add(parts *a, const void *p, size_t n) { a->v[a->n].iov_base = (void *)p; a->v[a->n++].iov_len = n; a->len += n; }

static const char H[] = "{\"jsonrpc\":\"2.0\",\"id\":";
static const char R1[] = ",\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"";
static const char R1M[] = ",\"result\":{\"resultType\":\"complete\",\"content\":[{\"type\":\"text\",\"text\":\"";
static const char R2[] = "\"}]}}";

/* fills a; 0: no answer is due; 2: answer to initialize */
static int answer(const char *b, size_t n, parts *a) {
  a->n = 0; a->len = 0;
  const char *e = b + n;
  static const char CALL[] = ",\"method\":\"tools/call\"";
  if (n > sizeof H + 40 && !memcmp(b, H, sizeof H - 1)) {
    const char *id = b + sizeof H - 1, *p = id;
    while (*p >= '0' && *p <= '9') ++p;
    if (p > id && !memcmp(p, CALL, sizeof CALL - 1)) {
      size_t win = (size_t)(e - p); if (win > 512) win = 512;
      const char *t = memmem(p, win, LIT("\"text\":\""));
      if (t && e - t > 12) {
        int modern = p[sizeof CALL - 1 + 12] == '_';            /* ,"params":{"_meta" */
        add(a, H, sizeof H - 1); add(a, id, (size_t)(p - id));
        if (modern) add(a, R1M, sizeof R1M - 1); else add(a, R1, sizeof R1 - 1);
        if (fixed_mode) add(a, LIT("ok")); else add(a, t + 8, (size_t)(e - 4 - (t + 8)));   /* ends with "}}} */
        add(a, R2, sizeof R2 - 1);
        return 1;
      }
    }
  }
  jmsg m;
  if (js_msg(b, n, &m) || !m.method.p || !m.id.p) return 0;
  add(a, H, sizeof H - 1); add(a, m.id.p, m.id.n);
  if (js_is(m.method, "\"tools/call\"")) {
    jspan t = js_get(js_get(m.params, "arguments"), "text");
    jspan meta = js_get(js_get(m.params, "_meta"), "io.modelcontextprotocol/protocolVersion");
    if (meta.p) add(a, R1M, sizeof R1M - 1); else add(a, R1, sizeof R1 - 1);
    if (t.p && t.n >= 2) add(a, t.p + 1, t.n - 2);
    add(a, R2, sizeof R2 - 1);
    return 1;
  }
  if (js_is(m.method, "\"initialize\"")) {
    jspan v = js_get(m.params, "protocolVersion");
    add(a, LIT(",\"result\":{\"protocolVersion\":"));
    add(a, v.p ? v.p : "\"2025-06-18\"", v.p ? v.n : 12);
    add(a, LIT(",\"capabilities\":{\"tools\":{}},\"serverInfo\":{\"name\":\"rawpeer\",\"version\":\"1\"}}}"));
    return 2;
  }
  if (js_is(m.method, "\"ping\"")) { add(a, LIT(",\"result\":{}}")); return 1; }
  if (js_is(m.method, "\"tools/list\"")) {
    add(a, LIT(",\"result\":{\"tools\":[{\"name\":\"echo\",\"inputSchema\":{\"type\":\"object\",\"properties\":{\"text\":{\"type\":\"string\"}},\"required\":[\"text\"]}}]}}"));
    return 1;
  }
  if (js_is(m.method, "\"server/discover\"")) {
    add(a, LIT(",\"result\":{\"resultType\":\"complete\",\"supportedVersions\":[\"2026-07-28\"],\"capabilities\":{\"tools\":{}},\"ttlMs\":60000,\"cacheScope\":\"private\",\"_meta\":{\"io.modelcontextprotocol/serverInfo\":{\"name\":\"rawpeer\",\"version\":\"1\"}}}}"));
    return 1;
  }
  add(a, LIT(",\"error\":{\"code\":-32601,\"message\":\"Method not found\"}}"));
  return 1;
}
/* writes all, waiting when it must */
static int put(int fd, parts *a) {
  int i = 0;
  while (i < a->n) {
    ssize_t w = writev(fd, a->v + i, a->n - i);
    if (w < 0) { if (errno == EINTR) continue; return -1; }
    while (i < a->n && (size_t)w >= a->v[i].iov_len) w -= (ssize_t)a->v[i++].iov_len;
    if (i < a->n) { a->v[i].iov_base = (char *)a->v[i].iov_base + w; a->v[i].iov_len -= (size_t)w; }
  }
  return 0;
}
static int serve_stdio(void) {
  size_t cap = 1 << 20, b = 0, scan = 0, e = 0;
  char *buf = malloc(cap), *out = malloc(1 << 16);
  parts a;
  for (;;) {
    if (b == e) b = scan = e = 0;
    if (cap - e < 65536) { if (b) { memmove(buf, buf + b, e - b); e -= b; scan -= b; b = 0; } else buf = realloc(buf, cap *= 2); }
    ssize_t r = read(0, buf + e, cap - e);
    if (r <= 0) return 0;
    e += (size_t)r;
    size_t o = 0;                                   /* small answers of one read go out in one write */
    char *q;
    while ((q = memchr(buf + scan, '\n', e - scan))) {
      const char *l = buf + b; size_t n = (size_t)(q - l);
      b = scan = (size_t)(q - buf) + 1;
      if (!answer(l, n, &a)) continue;
      add(&a, "\n", 1);
      if (a.len > 8192 || o + a.len > 65536) { if (o) { parts f = {{{out, o}}, 1, o}; if (put(1, &f)) return 1; o = 0; } }
      if (a.len > 8192) { if (put(1, &a)) return 1; continue; }
      for (int i = 0; i < a.n; ++i) { memcpy(out + o, a.v[i].iov_base, a.v[i].iov_len); o += a.v[i].iov_len; }
    }
    if (o) { parts f = {{{out, o}}, 1, o}; if (put(1, &f)) return 1; }
    scan = e;
  }
}

typedef struct { int fd; char *in; size_t cap, e; char *out; size_t ocap, o, oe; int armed; } conn;
static int flush(int ep, conn *c) {
  while (c->o < c->oe) {
    ssize_t w = write(c->fd, c->out + c->o, c->oe - c->o);
    if (w < 0) { if (errno == EINTR) continue; if (errno != EAGAIN) return -1; break; }
    c->o += (size_t)w;
  }
  int want = c->o < c->oe;
  if (!want) c->o = c->oe = 0;
  if (want != c->armed) {
    struct epoll_event ev = {.events = want ? EPOLLIN | EPOLLOUT : EPOLLIN, .data.ptr = c};
    epoll_ctl(ep, EPOLL_CTL_MOD, c->fd, &ev); c->armed = want;
  }
  return 0;
}
static void emit(conn *c, const void *p, size_t n) {
  if (c->oe + n > c->ocap) { c->ocap = (c->oe + n) * 2; c->out = realloc(c->out, c->ocap); }
  memcpy(c->out + c->oe, p, n); c->oe += n;
}
/* handles the whole requests in the buffer; -1: close */
static int requests(conn *c) {
  size_t b = 0;
  while (b < c->e) {
    char *s = c->in + b, *h = memmem(s, c->e - b, "\r\n\r\n", 4);
    if (!h) break;
    size_t hl = (size_t)(h - s) + 4, cl = 0;
    for (char *p = memchr(s, '\n', hl); p && p < h; p = memchr(p, '\n', (size_t)(s + hl - p))) {
      ++p;
      if ((*p | 32) == 'c' && !strncasecmp(p, "content-length:", 15)) { cl = strtoul(p + 15, 0, 10); break; }
    }
    if (c->e - b < hl + cl) break;
    b += hl + cl;
    if (*s != 'P') { emit(c, LIT("HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\n\r\n")); continue; }
    parts a; int k = answer(s + hl, cl, &a);
    if (!k) { emit(c, LIT("HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n")); continue; }
    char head[256];
    int n = snprintf(head, sizeof head, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n%sContent-Length: %zu\r\n\r\n",
                     k == 2 ? "Mcp-Session-Id: raw-1\r\n" : "", a.len);
    emit(c, head, (size_t)n);
    for (int i = 0; i < a.n; ++i) emit(c, a.v[i].iov_base, a.v[i].iov_len);
  }
  if (b) { memmove(c->in, c->in + b, c->e - b); c->e -= b; }
  return 0;
}
static int serve_http(int port) {
  int ls = socket(AF_INET, SOCK_STREAM, 0), one = 1, ep = epoll_create1(0);
  struct sockaddr_in ad = {.sin_family = AF_INET, .sin_port = htons((unsigned short)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  setsockopt(ls, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  if (bind(ls, (struct sockaddr *)&ad, sizeof ad) || listen(ls, 1024)) { perror("rawpeer"); return 1; }
  struct epoll_event ev = {.events = EPOLLIN, .data.ptr = 0}, evs[64];
  epoll_ctl(ep, EPOLL_CTL_ADD, ls, &ev);
  for (;;) {
    int k = epoll_wait(ep, evs, 64, -1);
    for (int i = 0; i < k; ++i) {
      conn *c = evs[i].data.ptr;
      if (!c) {
        int fd = accept4(ls, 0, 0, SOCK_NONBLOCK);
        if (fd < 0) continue;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        c = calloc(1, sizeof *c); c->fd = fd; c->in = malloc(c->cap = 65536);
        ev.events = EPOLLIN; ev.data.ptr = c; epoll_ctl(ep, EPOLL_CTL_ADD, fd, &ev);
        continue;
      }
      int dead = 0;
      if (evs[i].events & EPOLLOUT) dead = flush(ep, c);
      if (!dead && (evs[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR))) {
        if (c->cap - c->e < 32768) c->in = realloc(c->in, c->cap *= 2);
        ssize_t r = read(c->fd, c->in + c->e, c->cap - c->e);
        if (r == 0 || (r < 0 && errno != EAGAIN)) dead = 1;
        else if (r > 0) { c->e += (size_t)r; requests(c); dead = flush(ep, c); }
      }
      if (dead) { close(c->fd); free(c->in); free(c->out); free(c); }
    }
  }
}
int main(int argc, char **argv) {
  signal(SIGPIPE, SIG_IGN);
  if (argc == 2 && !strcmp(argv[1], "stdio")) return serve_stdio();
  if (argc == 3 && !strcmp(argv[1], "http")) return serve_http(atoi(argv[2]));
  if (argc == 3 && !strcmp(argv[1], "fixed")) { fixed_mode = 1; return serve_http(atoi(argv[2])); }
  fprintf(stderr, "usage: rawpeer stdio | http PORT | fixed PORT\n");
  return 2;
}
