// SPDX-License-Identifier: MIT
// Makes HTTP messages for differential tests: many are good, many are almost good, and some are broken anywhere. The
// same seed gives the same message on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <random>
#include <string>
#include <string_view>

namespace http_test
{

class generator
{
public:
    explicit generator(std::uint32_t seed) : random_(seed) {}

    std::string request()
    {
        std::string body;
        const std::string method = likely({"GET", "POST", "POST", "DELETE", "PUT", "PATCH", "HEAD"},
                                          {"OPTIONS", "M-SEARCH", "get", "", "P OST", "PO\tST", "CONNECT", "PRI"});
        const std::string host =
            likely({"localhost:80", "127.0.0.1", "[::1]:8080", "a.example"}, {"", "a b", "::1", "a@b"});
        std::string target = likely({"/", "/mcp", "/mcp?a=%20b", "//x", "/a/../b", "/a?b?c"},
                                    {"*", "http://a/", "a:80", "/a#b", "", "/\x80", "/%zz", "/{x}|^`\"<>\\", "/a b"});
        if (chance(8)) target = one_of({"http://", "HTTPS://"}) + host + likely({target.c_str()}, {"", "?x", "#"});
        std::string out = chance(8) ? likely({"\r\n", "\r\n\r\n"}, {"\n", "\r", "\r\n\r\n\r\n"}) : "";
        out += method + space() + target + space();
        out += likely({"HTTP/1.1", "HTTP/1.1", "HTTP/1.1", "HTTP/1.0"},
                      {"HTTP/2.0", "HTTP/1.2", "http/1.1", "HTTP/1.1 ", "HTTP/11", "HTTP/1.10", ""});
        out += line_end();
        out += "Host" + colon() + host + line_end();
        if (chance(40)) out += "Host: b" + line_end();
        return out + rest(body) + body;
    }

    std::string response()
    {
        std::string body;
        std::string out;
        while (chance(6))
            out += likely({"HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 103 Hints\r\nLink: x\r\n\r\n"},
                          {"HTTP/1.1 101 x\r\n\r\n"});
        out += likely({"HTTP/1.1", "HTTP/1.1", "HTTP/1.1", "HTTP/1.0"}, {"HTTP/2.0", "ICY", "HTTP/1.1 ", "http/1.1"});
        out += space();
        out += likely({"200", "202", "404", "500"}, {"204", "304", "20", "2000", "+20", "099", "999"});
        out += space() + likely({"OK", "Not Found", "", "\xc3\xa9\tx"}, {"\x01", "a\rb"}) + line_end();
        return out + rest(body) + body;
    }

    /// Changes some bytes, or none.
    void damage(std::string& text)
    {
        static constexpr std::string_view telling = "\r\n\r\n \t:;,=\"\\0123456789abcdefF+-xX/%#\x00\x01\x7f\x80\xff";
        if (!chance(2)) return;
        for (std::size_t steps = 1 + below(3); steps > 0; --steps) {
            const std::size_t at = below(text.size() + 1);
            const char byte = chance(4) ? static_cast<char>(below(256)) : telling[below(telling.size())];
            if (at == text.size() || chance(3)) {
                text.insert(at, 1, byte);
            } else if (chance(2)) {
                text[at] = byte;
            } else if (chance(2)) {
                text.erase(at, 1 + below(3));
            } else {
                text.insert(at, text.substr(below(text.size()), 1 + below(12)));
            }
        }
    }

    std::size_t below(std::size_t limit) { return random_() % limit; }
    bool chance(std::size_t one_in) { return below(one_in) == 0; }

private:
    using choices = std::initializer_list<const char*>;

    std::string one_of(choices list) { return *(list.begin() + below(list.size())); }
    std::string likely(choices usual, choices odd) { return one_of(chance(16) ? odd : usual); }

    std::string space() { return chance(60) ? one_of({"  ", "\t", "", "\r"}) : " "; }
    std::string line_end() { return chance(80) ? one_of({"\n", "\r", "\r\r\n", "\n\r", ""}) : "\r\n"; }
    std::string colon()
    {
        return chance(60) ? one_of({" : ", "\t:", "", "::", ":\t ", ":\t"}) : one_of({": ", ":", ":  ", ": "});
    }

    // Fields, the empty line, and the body.
    std::string rest(std::string& body)
    {
        std::string out;
        for (std::size_t count = below(4); count > 0; --count) {
            out +=
                likely({"Accept", "x-One", "Mcp-Session-Id", "Content-Type", "!#$%&'*+-.^_`|~"},
                       {"", "a b", "X(", "\x80", "Connection", "Upgrade", "Proxy-Connection", "Trailer", " X", "\tX"});
            out += colon();
            out += likely({"", "a", "a, b;q=0.5", "\"x, \\\" y\"", "two  words", "close", "keep-alive", "\xc3\xa9"},
                          {"a\r\n b", "\x7f", "\x01", "upgrade, x", "a\tb  ", "websocket"});
            out += line_end();
        }
        const std::size_t size = below(20);
        const std::string data = std::string("0\r\n\r\nGET / HTTP/1.1\r\n").substr(0, size);
        const std::string length = std::to_string(data.size());
        switch (below(8)) {
        case 0:
        case 1: break; // no body
        case 2:        // in two ways, or in a strange one
            if (chance(2)) out += "Content-Length" + colon() + length + line_end();
            if (chance(2))
                out += "Content-Length: " + one_of({"5", "+5", "5, 5", "0x5", "", "18446744073709551616", " 5 "}) +
                       line_end();
            if (chance(2)) {
                out += "Transfer-Encoding: " + one_of({"chunked", "gzip, chunked", "chunked, chunked", "identity",
                                                       "xchunked", "chunked;a", "\"chunked\"", ""});
                out += line_end();
            }
            body = chance(2) ? data : chunks(data);
            break;
        case 3:
        case 4: // a length
            out += "Content-Length" + colon() + likely({length.c_str(), ("00" + length).c_str()}, {"3", "", "-1"}) +
                   line_end();
            body = data;
            break;
        default:
            out += likely({"Transfer-Encoding", "transfer-encoding"}, {"Transfer-Encoding ", "Transfer_Encoding"});
            out += colon() +
                   likely({"chunked", "Chunked", "chunked "}, {"chunked, gzip", ",chunked",
                                                               "\x0b"
                                                               "chunked"}) +
                   line_end();
            body = chunks(data);
        }
        return out + line_end();
    }

    std::string chunks(std::string_view data)
    {
        std::string out;
        while (!data.empty()) {
            const std::size_t size = 1 + below(data.size());
            char number[20];
            const int digits = std::snprintf(number, sizeof number, chance(4) ? "%04zX" : "%zx", size);
            out.append(number, static_cast<std::size_t>(digits)).append(extensions()).append(line_end());
            out.append(data.substr(0, size)).append(line_end());
            data.remove_prefix(size);
        }
        out += likely({"0", "000"}, {"", "0x0", " 0", "-0"}) + extensions() + line_end();
        while (chance(4)) {
            out += likely({"X: y", "x-sum:"},
                          {"Content-Length: 1", "Transfer-Encoding: chunked", "Host: b", "X : y", "X: y\r\n z"});
            out += line_end();
        }
        return out + line_end();
    }

    std::string extensions()
    {
        if (!chance(4)) return "";
        return likely({";a", ";a=b", ";a=\"b;\\\" c\"", ";a;b=c", ";a=\"\""},
                      {" ;a", ";a =b", "; a", ";", ";a=", ";a=\"b", " ", "\t", ";a=\"\x01\"", ";a=\"b\"c", "\r"});
    }

    std::mt19937 random_;
};

} // namespace http_test
