/* SPDX-License-Identifier: MIT */
/* jscan.h - allocation-free scan of one JSON-RPC message (C99 / C++20).
   Walks only as deep as asked; strings are skipped with memchr. */
#ifndef JSCAN_H
#define JSCAN_H
#include <stddef.h>
#include <string.h>

typedef struct { const char *p; size_t n; } jspan;          /* p == 0: absent */

static inline const char *js_ws(const char *p, const char *e) {
  while (p < e && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t')) ++p;
  return p;
}
/* p is at the opening quote; returns just past the closing one, or 0 */
static inline const char *js_str(const char *p, const char *e) {
  const char *b = ++p;
  for (;;) {
    const char *q = (const char *)memchr(p, '"', (size_t)(e - p));
    if (!q) return 0;
    const char *s = q;
    while (s > b && s[-1] == '\\') --s;
    if (((q - s) & 1) == 0) return q + 1;
    p = q + 1;
  }
}
/* returns just past the value that starts at p, or 0 */
static inline const char *js_skip(const char *p, const char *e) {
  if (p >= e) return 0;
  if (*p == '"') return js_str(p, e);
  if (*p == '{' || *p == '[') {
    int depth = 0;
    while (p < e) {
      char c = *p;
      if (c == '"') { p = js_str(p, e); if (!p) return 0; continue; }
      ++p;
      if (c == '{' || c == '[') ++depth;
      else if ((c == '}' || c == ']') && --depth == 0) return p;
    }
    return 0;
  }
  const char *b = p;
  while (p < e && *p != ',' && *p != '}' && *p != ']' && *p != ' ' && *p != '\n' && *p != '\r' && *p != '\t') ++p;
  return p == b ? 0 : p;
}
/* Iterates the members of an object. *p starts at '{'. Returns 1 with key (no
   quotes) and value set, 0 at the end, -1 on malformed input. */
static inline int js_next(const char **pp, const char *e, jspan *key, jspan *val) {
  const char *p = js_ws(*pp, e);
  if (p >= e) return -1;
  if (*p == '{' || *p == ',') p = js_ws(p + 1, e);
  if (p < e && *p == '}') { *pp = p + 1; return 0; }
  if (p >= e || *p != '"') return -1;
  const char *q = js_str(p, e);
  if (!q) return -1;
  key->p = p + 1; key->n = (size_t)(q - p - 2);
  p = js_ws(q, e);
  if (p >= e || *p != ':') return -1;
  p = js_ws(p + 1, e);
  q = js_skip(p, e);
  if (!q) return -1;
  val->p = p; val->n = (size_t)(q - p);
  *pp = q;
  return 1;
}
static inline int js_is(jspan s, const char *lit) { size_t n = strlen(lit); return s.n == n && memcmp(s.p, lit, n) == 0; }
static inline jspan js_get(jspan obj, const char *name) {
  jspan none = {0, 0}, k, v;
  if (!obj.p || !obj.n || *obj.p != '{') return none;
  const char *p = obj.p, *e = obj.p + obj.n;
  while (js_next(&p, e, &k, &v) == 1) if (js_is(k, name)) return v;
  return none;
}
typedef struct { jspan id, method, params, result, error; } jmsg;
/* 0 when the bytes are one JSON object */
static inline int js_msg(const char *b, size_t n, jmsg *m) {
  memset(m, 0, sizeof *m);
  const char *e = b + n, *p = js_ws(b, e);
  if (p >= e || *p != '{') return -1;
  jspan k, v; int r;
  while ((r = js_next(&p, e, &k, &v)) == 1) {
    if (js_is(k, "id")) m->id = v;
    else if (js_is(k, "method")) m->method = v;
    else if (js_is(k, "params")) m->params = v;
    else if (js_is(k, "result")) m->result = v;
    else if (js_is(k, "error")) m->error = v;
  }
  return r == 0 && js_ws(p, e) == e ? 0 : -1;
}
#endif
