// SPDX-License-Identifier: MIT
// Whatever our parsers accept, Boost.Beast accepts too, with the same fields, the same body and the same end. Beast is
// more lenient elsewhere, so nothing is asked of it about what we refuse. It includes Boost.Asio, and so this file must
// include no header of ours that includes Asio (and no precompiled one).
#include <comcp/error.hpp>
#include <comcp/http/parser.hpp>
#include <comcp/limits.hpp>

#include <boost/asio/buffer.hpp>
#include <boost/beast/core/error.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/field.hpp>
#include <boost/beast/http/verb.hpp>
#include <boost/optional/optional.hpp>

#include "bounds.hpp"
#include "catch.hpp"
#include "events.hpp"
#include "generator.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace beast = boost::beast::http;
namespace http = comcp::http;

namespace
{

constexpr int messages = 20000;
constexpr comcp::http_limits bounds;

struct outcome
{
    std::vector<std::string> head; // as http_test::add_head prints it, without what only we say
    std::string body;
    std::size_t used = 0;
};

template <class Head>
std::vector<std::string> printed(const Head& head)
{
    std::vector<std::string> out;
    http_test::add_head(out, head);
    out.pop_back(); // the framing: it shows in the body
    return out;
}

template <bool Request>
bool read_ours(std::string_view text, bool to_head, outcome& out, std::uint64_t body_limit = comcp::limits().message)
{
    std::conditional_t<Request, http::request_parser, http::response_parser> parser;
    if constexpr (!Request) parser.reset(to_head ? "HEAD" : "POST");
    while (true) {
        http::parse_step step = parser.step(text.substr(out.used));
        out.used += step.used;
        out.body += step.body;
        if (step.what == http::parse_step::kind::head) {
            out.head = printed(parser.head());
            parser.body_limit(body_limit);
        }
        if constexpr (!Request) {
            if (step.what == http::parse_step::kind::need_more) step = parser.eof();
        }
        if (step.what == http::parse_step::kind::done) return true;
        if (step.what == http::parse_step::kind::need_more || step.what == http::parse_step::kind::failed) return false;
    }
}

// Beast's parser with our limits, whose own container would sort equal names together. The functions do not say
// `override`, because the newest Beast has one more of them.
template <bool Request>
class beast_parser : public beast::basic_parser<Request>
{
public:
    beast_parser(outcome& out, std::uint64_t body_limit) : out_(out)
    {
        this->header_limit(bounds.line + 2);
        this->body_limit(body_limit);
        this->eager(true);
    }

    /// Its limit holds for the first line and for the fields, in some versions for both together.
    void line_is_over() { this->header_limit(bounds.fields + 2); }

    int status = 0;

private:
    using error = boost::system::error_code;
    using string_view = boost::beast::string_view;

    static std::string text(string_view view) { return std::string(view.data(), view.size()); }
    static std::string text(int version) { return version == 11 ? "1.1" : version == 10 ? "1.0" : "?"; }

    // Beast leaves a target in absolute form as it came.
    static std::string origin_form(std::string target)
    {
        const std::size_t scheme = target.starts_with('/') ? target.npos : target.find("://");
        if (scheme == target.npos) return target;
        target.erase(0, std::min(target.find_first_of("/?", scheme + 3), target.size()));
        return target.starts_with('/') ? target : '/' + target;
    }

    void on_request_impl(beast::verb, string_view method, string_view target, int version, error&)
    {
        out_.head = {text(method) + " " + origin_form(text(target)) + " " + text(version) + " at "};
    }
    void on_response_impl(int code, string_view reason, int version, error&)
    {
        status = code;
        out_.head = {text(version) + " " + std::to_string(code) + " " + text(reason)};
    }
    void on_field_impl(beast::field name, string_view name_text, string_view value, error& failed)
    {
        if (in_trailer_) return;
        if (++fields_ > bounds.field_count) failed = beast::make_error_code(beast::error::header_limit); // it has none
        out_.head.push_back(text(name_text) + ": " + text(value));
        if (!Request || name != beast::field::host) return;
        const auto host = http::parse_authority(text(value));
        out_.head.front() += host ? host->text() : "?";
    }
    void on_trailer_field_impl(beast::field, string_view, string_view, error&) {}
    void on_header_impl(error&) { in_trailer_ = true; }
    void on_body_init_impl(const boost::optional<std::uint64_t>&, error&) {}
    std::size_t on_body_impl(string_view data, error&)
    {
        out_.body += text(data);
        return data.size();
    }
    void on_chunk_header_impl(std::uint64_t, string_view, error&) {}
    std::size_t on_chunk_body_impl(std::uint64_t, string_view data, error&)
    {
        out_.body += text(data);
        return data.size();
    }
    void on_finish_impl(error&) {}

    outcome& out_;
    std::size_t fields_ = 0;
    bool in_trailer_ = false;
};

// What Beast reads of a whole message; the text of its error when it refuses.
template <bool Request>
std::string read_beast(std::string_view text, bool to_head, outcome& out,
                       std::uint64_t body_limit = comcp::limits().message)
{
    // Beast reads no empty lines before a request, of which we skip two (RFC 9112 section 2.2).
    while (Request && out.used < 4 && text.substr(out.used).starts_with("\r\n")) out.used += 2;
    while (true) {
        beast_parser<Request> parser(out, body_limit);
        if constexpr (!Request) parser.skip(to_head);
        boost::system::error_code error;
        const std::size_t line_end = text.find('\n', out.used);
        if (line_end != text.npos) {
            const std::string_view line = text.substr(out.used, line_end + 1 - out.used);
            out.used += parser.put(boost::asio::const_buffer(line.data(), line.size()), error);
            if (error && error != beast::make_error_code(beast::error::need_more)) return error.message();
            error = {};
            parser.line_is_over();
        }
        while (!parser.is_done()) {
            const std::string_view rest = text.substr(out.used);
            if (rest.empty()) {
                parser.put_eof(error);
                if (!error && !parser.is_done()) return "unfinished";
            } else {
                out.used += parser.put(boost::asio::const_buffer(rest.data(), rest.size()), error);
            }
            if (error) return error.message();
        }
        if (Request || parser.status >= 200) return "";
    }
}

template <bool Request>
void compare(std::uint32_t first_seed)
{
    int accepted = 0;
    int with_body = 0;
    for (std::uint32_t i = 0; i < messages; ++i) {
        http_test::generator random(first_seed + i);
        std::string text = Request ? random.request() : random.response();
        random.damage(text);
        if (random.chance(3)) text += "GET /next HTTP/1.1\r\n";
        const bool to_head = random.chance(8);

        outcome ours;
        if (!read_ours<Request>(text, to_head, ours)) continue;
        ++accepted;
        with_body += ours.body.empty() ? 0 : 1;
        outcome theirs;
        const std::string error = read_beast<Request>(text, to_head, theirs);
        if (error.empty() && ours.head == theirs.head && ours.body == theirs.body && ours.used == theirs.used) continue;
        INFO("seed " << first_seed + i << ", Beast says: " << error << "\n" << text);
        CHECK(theirs.head == ours.head);
        CHECK(theirs.body == ours.body);
        CHECK(theirs.used == ours.used);
        REQUIRE(error.empty());
    }
    // Else the comparison would say little.
    CHECK(accepted > messages / 5);
    CHECK(with_body > messages / 20);
}

template <bool Request>
void compare_bounds()
{
    for (const http_test::bounded& each : http_test::at_the_bounds(Request, bounds)) {
        CAPTURE(each.what, each.over);
        outcome ours;
        outcome theirs;
        CHECK(read_ours<Request>(each.text, false, ours) == (each.over <= 0));
        CHECK(read_beast<Request>(each.text, false, theirs) == (each.over <= 0 ? "" : "header limit exceeded"));
        if (each.over > 0) continue;
        CHECK(theirs.head == ours.head);
        CHECK(theirs.used == ours.used);
    }
    constexpr std::size_t most = 1000;
    const std::string line = Request ? "POST / HTTP/1.1\r\nHost: a\r\n" : "HTTP/1.1 200 OK\r\n";
    for (const std::size_t size : {most - 1, most, most + 1}) {
        const std::string rest(size - 500, 'x');
        char number[20];
        std::snprintf(number, sizeof number, "%zx", rest.size());
        const std::string chunks =
            "1f4\r\n" + std::string(500, 'x') + "\r\n" + number + "\r\n" + rest + "\r\n0\r\n\r\n";
        for (const std::string& text :
             {line + "Content-Length: " + std::to_string(size) + "\r\n\r\n" + std::string(size, 'x'),
              line + "Transfer-Encoding: chunked\r\n\r\n" + chunks}) {
            CAPTURE(text);
            outcome ours;
            outcome theirs;
            CHECK(read_ours<Request>(text, false, ours, most) == (size <= most));
            CHECK(read_beast<Request>(text, false, theirs, most) == (size <= most ? "" : "body limit exceeded"));
            if (size <= most) CHECK(theirs.body == ours.body);
        }
    }
}

} // namespace

TEST_CASE("Boost.Beast accepts every request that we accept, and reads the same") { compare<true>(1); }

TEST_CASE("Boost.Beast accepts every response that we accept, and reads the same") { compare<false>(1000000); }

TEST_CASE("With our limits Boost.Beast refuses the same beyond each bound, and nothing below")
{
    compare_bounds<true>();
    compare_bounds<false>();
}
