// SPDX-License-Identifier: MIT
// floor - what C++ itself costs between the raw C responder and an SDK: real JSON, and Asio coroutines.
//   floor block|coro            stdio, blocking read/write loop or Asio awaitable loop
//   floor http PORT             Asio awaitable HTTP/1.1 keep-alive (minimal header scan)
// -DNLOHMANN: nlohmann/json instead of Boost.JSON. No validation, no dispatch table, no session: throw-away.
#include <asio.hpp>
#include <cstring>
#include <iostream>
#include <string>
#include <string_view>
#include <strings.h>
#ifdef NLOHMANN
#include <nlohmann/json.hpp>
static bool answer(std::string_view in, std::string& out)
{
    auto m = nlohmann::json::parse(in);
    if (!m.contains("id")) return false;
    nlohmann::json r{{"jsonrpc", "2.0"}, {"id", m["id"]}};
    if (m["method"] == "tools/call") {
        auto& p = m["params"];
        r["result"]["content"] =
            nlohmann::json::array({{{"type", "text"}, {"text", std::move(p["arguments"]["text"])}}});
        if (p.contains("_meta")) r["result"]["resultType"] = "complete";
    } else
        r["result"] = {{"protocolVersion", m["params"]["protocolVersion"]},
                       {"capabilities", nlohmann::json::object()},
                       {"serverInfo", {{"name", "floor"}, {"version", "1"}}}};
    out += r.dump();
    return true;
}
#else
#include <boost/json.hpp>
#include <boost/json/src.hpp>
namespace bj = boost::json;
static bool answer(std::string_view in, std::string& out)
{
    unsigned char tmp[4096];
    bj::monotonic_resource mr(tmp, sizeof tmp);
    auto v = bj::parse({in.data(), in.size()}, &mr);
    auto& m = v.as_object();
    auto* id = m.if_contains("id");
    if (!id) return false;
    bj::object r(&mr);
    r["jsonrpc"] = "2.0";
    r["id"] = std::move(*id);
    auto& p = m["params"].as_object();
    if (m["method"].as_string() == "tools/call") {
        bj::object block(&mr);
        block["type"] = "text";
        block["text"] = std::move(p["arguments"].as_object()["text"]);
        bj::array a(&mr);
        a.push_back(std::move(block));
        bj::object res(&mr);
        if (p.contains("_meta")) res["resultType"] = "complete";
        res["content"] = std::move(a);
        r["result"] = std::move(res);
    } else
        r["result"] = {{"protocolVersion", p["protocolVersion"]},
                       {"capabilities", bj::object()},
                       {"serverInfo", {{"name", "floor"}, {"version", "1"}}}};
    bj::value rv(std::move(r));
    bj::serializer sr;
    sr.reset(&rv);
    size_t base = out.size();
    while (!sr.done()) { // straight into the output buffer
        size_t have = out.size();
        out.resize(have + std::max<size_t>(4096, in.size() + 128));
        auto s = sr.read(out.data() + have, out.size() - have);
        out.resize(have + s.size());
    }
    (void)base;
    return true;
}
#endif
struct Lines
{
    std::string buf;
    size_t b = 0, scan = 0, e = 0;
    Lines() { buf.resize(1 << 17); }
    std::pair<char*, size_t> space()
    {
        if (b == e) b = scan = e = 0;
        if (buf.size() - e < 65536) {
            if (b > buf.size() / 2) {
                memmove(buf.data(), buf.data() + b, e - b);
                e -= b;
                scan -= b;
                b = 0;
            } else buf.resize(buf.size() * 2);
        }
        return {buf.data() + e, buf.size() - e};
    }
    bool next(std::string_view& l)
    {
        if (auto* q = static_cast<char*>(scan < e ? memchr(buf.data() + scan, '\n', e - scan) : nullptr)) {
            size_t p = size_t(q - buf.data());
            l = {buf.data() + b, p - b};
            b = scan = p + 1;
            return true;
        }
        scan = e;
        return false;
    }
};
using asio::awaitable;
using asio::use_awaitable;
static awaitable<void> coro()
{
    auto ex = co_await asio::this_coro::executor;
    asio::posix::stream_descriptor in(ex, 0), out(ex, 1);
    Lines ls;
    std::string o;
    std::string_view l;
    for (;;) {
        auto [p, n] = ls.space();
        asio::error_code ec;
        size_t r = co_await in.async_read_some(asio::buffer(p, n), asio::redirect_error(use_awaitable, ec));
        if (ec) co_return;
        ls.e += r;
        o.clear();
        while (ls.next(l))
            if (answer(l, o)) o += '\n';
        if (!o.empty()) co_await asio::async_write(out, asio::buffer(o), use_awaitable);
    }
}
static awaitable<void> session(asio::ip::tcp::socket s)
{
    s.set_option(asio::ip::tcp::no_delay(true));
    std::string in(65536, 0), body, head;
    size_t e = 0;
    for (;;) {
        const char* h;
        size_t cl = 0, hl = 0;
        for (;;) {
            if ((h = static_cast<const char*>(memmem(in.data(), e, "\r\n\r\n", 4)))) {
                hl = size_t(h - in.data()) + 4;
                cl = 0;
                for (const char* p = in.data(); p < h; ++p)
                    if (*p == '\n' && (p[1] | 32) == 'c' && !strncasecmp(p + 1, "content-length:", 15)) {
                        cl = strtoul(p + 16, nullptr, 10);
                        break;
                    }
                if (e >= hl + cl) break;
            }
            if (in.size() - e < 32768) in.resize(in.size() * 2);
            asio::error_code ec;
            e += co_await s.async_read_some(asio::buffer(in.data() + e, in.size() - e),
                                            asio::redirect_error(use_awaitable, ec));
            if (ec) co_return;
        }
        body.clear();
        if (answer({in.data() + hl, cl}, body))
            head =
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
                "\r\n\r\n";
        else head = "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n";
        memmove(in.data(), in.data() + hl + cl, e - hl - cl);
        e -= hl + cl;
        std::array<asio::const_buffer, 2> bufs{asio::buffer(head), asio::buffer(body)};
        asio::error_code ec;
        co_await asio::async_write(s, bufs, asio::redirect_error(use_awaitable, ec));
        if (ec) co_return;
    }
}
static awaitable<void> listen(unsigned short port)
{
    auto ex = co_await asio::this_coro::executor;
    asio::ip::tcp::acceptor a(ex, {asio::ip::address_v4::loopback(), port});
    for (;;) asio::co_spawn(ex, session(co_await a.async_accept(use_awaitable)), asio::detached);
}
int main(int argc, char** argv)
{
    std::string mode = argc > 1 ? argv[1] : "block";
    if (mode == "block") {
        Lines ls;
        std::string o;
        std::string_view l;
        for (;;) {
            auto [p, n] = ls.space();
            ssize_t r = read(0, p, n);
            if (r <= 0) return 0;
            ls.e += size_t(r);
            o.clear();
            while (ls.next(l))
                if (answer(l, o)) o += '\n';
            for (size_t w = 0; w < o.size();) {
                ssize_t k = write(1, o.data() + w, o.size() - w);
                if (k < 0) return 1;
                w += size_t(k);
            }
        }
    }
    asio::io_context io(1);
    if (mode == "coro") asio::co_spawn(io, coro(), asio::detached);
    else asio::co_spawn(io, listen(static_cast<unsigned short>(atoi(argv[2]))), asio::detached);
    io.run();
}
