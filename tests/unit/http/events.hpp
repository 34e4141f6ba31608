// SPDX-License-Identifier: MIT
// What an HTTP parser reports, as lines of text, for tests and fuzzers that compare runs over the same bytes.
#pragma once

#include <comcp/http/chunked.hpp>
#include <comcp/http/message.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace http_test
{

namespace http = comcp::http;

inline std::string text_of(const http::framing& body)
{
    switch (body.how) {
    case http::framing::kind::none: return "none";
    case http::framing::kind::length: return "length " + std::to_string(body.length);
    case http::framing::kind::chunked: return "chunked";
    case http::framing::kind::until_close: return "until close";
    }
    return "?";
}

inline std::string text_of(http::version spoken) { return spoken == http::version::http_1_1 ? "1.1" : "1.0"; }

inline void add_head(std::vector<std::string>& out, const http::request_head& head)
{
    out.push_back(head.method + " " + head.target + " " + text_of(head.version) + " at " + head.host.text());
    for (const http::field& item : head.fields) out.push_back(std::string(item.name).append(": ").append(item.value));
    out.push_back("body: " + text_of(head.body) + (head.keep_alive ? "" : ", close") +
                  (head.expects_continue ? ", continue" : ""));
}

inline void add_head(std::vector<std::string>& out, const http::response_head& head)
{
    out.push_back(text_of(head.version) + " " + std::to_string(head.status) + " " + head.reason);
    for (const http::field& item : head.fields) out.push_back(std::string(item.name).append(": ").append(item.value));
    out.push_back("body: " + text_of(head.body) + (head.keep_alive ? "" : ", close"));
}

inline std::string text_of(const http::parse_error& error)
{
    return "failed " + std::to_string(error.status) + " " + std::string(error.text);
}

/// Feeds a parser and keeps what it says. Messages follow one another until one fails.
template <class Parser>
class recorder
{
public:
    template <class... Arguments>
    explicit recorder(std::uint64_t body_limit, const Arguments&... arguments)
        : parser(arguments...),
          body_limit_(body_limit)
    {}

    void feed(std::string_view input)
    {
        while (!failed) {
            const http::parse_step step = parser.step(input);
            if (step.used > input.size()) std::abort();
            switch (step.what) {
            case http::parse_step::kind::need_more:
                if (step.used != input.size()) std::abort();
                return;
            case http::parse_step::kind::head:
                add_head(lines, parser.head());
                parser.body_limit(body_limit_);
                break;
            case http::parse_step::kind::body:
                if (step.body.empty() || step.body.data() < input.data()) std::abort();
                if (step.body.data() + step.body.size() > input.data() + step.used) std::abort();
                body_ += step.body;
                break;
            case http::parse_step::kind::done: finish(); break;
            case http::parse_step::kind::failed: fail(); break;
            }
            input.remove_prefix(step.used);
            if (step.what == http::parse_step::kind::done && input.empty()) return;
        }
    }

    /// The end of the connection; for response parsers.
    void eof()
    {
        if (failed) return;
        if (parser.eof().what == http::parse_step::kind::done) {
            finish();
        } else {
            fail();
        }
    }

    Parser parser;
    std::vector<std::string> lines;
    bool failed = false;

private:
    void finish()
    {
        lines.push_back("done [" + body_ + "]");
        body_.clear();
        parser.reset();
    }

    void fail()
    {
        // A failed parser stays failed.
        if (parser.step("x").what != http::parse_step::kind::failed) std::abort();
        if (!body_.empty()) lines.push_back("[" + body_ + "]");
        lines.push_back(text_of(parser.error()));
        failed = true;
    }

    std::uint64_t body_limit_;
    std::string body_;
};

} // namespace http_test
