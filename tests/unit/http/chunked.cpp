// SPDX-License-Identifier: MIT
#include <comcp/http/chunked.hpp>

#include "catch.hpp"

#include <string>
#include <string_view>

using namespace comcp;
using namespace comcp::http;

namespace
{

// The data of a body that ends with its input, or why it is refused.
std::string decode(std::string_view input, std::size_t step_size, std::uint64_t limit = unlimited_body)
{
    chunked_decoder decoder({}, limit);
    std::string data;
    while (true) {
        const parse_step step = decoder.step(input.substr(0, step_size));
        REQUIRE(step.used <= input.size());
        input.remove_prefix(step.used);
        data += step.body;
        if (step.what == parse_step::kind::done) return data + (input.empty() ? "" : "+" + std::string(input));
        if (step.what == parse_step::kind::failed) return "! " + std::string(decoder.error().text);
        if (step.what == parse_step::kind::need_more && input.empty()) return data + "...";
    }
}

} // namespace

TEST_CASE("Chunks are decoded in steps of every size")
{
    const std::string text = "5;a=\"\\\"\"\r\nhello\r\nC\r\n, the\r\nworld\r\n0\r\nX: y\r\n\r\nnext";
    for (std::size_t size = 1; size <= text.size(); ++size) {
        const std::string data = decode(text, size);
        CHECK(data == "hello, the\r\nworld+next");
    }
    CHECK(decode("", 9) == "...");
    CHECK(decode("3\r\nab", 9) == "ab...");
    CHECK(decode("3\r\nabc\r\n", 9) == "abc...");
    CHECK(decode("0\r\n\r\n", 9) == "");
    CHECK(decode("3\r\nabc\r\n0\r\n\r\n", 9, 3) == "abc");
    CHECK(decode("3\r\nabc\r\n0\r\n\r\n", 9, 2) == "! the body is over the limit");
}

TEST_CASE("A decoder that was reset reads the next body and keeps its limit")
{
    chunked_decoder decoder({}, 3);
    for (int i = 0; i < 3; ++i) {
        CHECK(decoder.step("3\r\nabc\r\n0\r\n\r\n").body == "abc");
        CHECK(decoder.step("\r\n0\r\n\r\n").what == parse_step::kind::done);
        CHECK(decoder.step("1").what == parse_step::kind::done);
        decoder.reset();
    }
    CHECK(decoder.step("4\r\n").what == parse_step::kind::failed);
    CHECK(decoder.error().status == 413);
    decoder.reset();
    CHECK_FALSE(decoder.error());
    CHECK(decoder.step("3\r\na").body == "a");
}

TEST_CASE("What is written as chunks is read back")
{
    std::string out = "before";
    append_chunk(out, "hello");
    CHECK(out == "before00000005\r\nhello\r\n");
    append_chunk(out, ""); // would be the end
    CHECK(out == "before00000005\r\nhello\r\n");
    const std::size_t begun = begin_chunk(out);
    out.append(0x1234a, 'x');
    end_chunk(out, begun);
    CHECK(out.substr(begun - 10, 10) == "0001234a\r\n");
    end_chunk(out, begin_chunk(out));
    out += last_chunk;
    CHECK(decode(std::string_view(out).substr(6), 1000) == "hello" + std::string(0x1234a, 'x'));
}

TEST_CASE("Quoted strings and tokens of extensions have their ends")
{
    CHECK(http::detail::token_size("abc;") == 3);
    CHECK(http::detail::token_size("") == 0);
    CHECK(http::detail::quoted_size("\"\"x") == 2);
    CHECK(http::detail::quoted_size("\"a\\\"b\"") == 6);
    CHECK(http::detail::quoted_size("\"a") == 0);
    CHECK(http::detail::quoted_size("\"\\") == 0);
    CHECK(http::detail::quoted_size("\"\\\"") == 0);
    CHECK(http::detail::quoted_size("a") == 0);
    CHECK(http::detail::valid_chunk_extensions(""));
    CHECK(http::detail::valid_chunk_extensions(";a;b=c;d=\"e;\";f"));
    for (const char* text : {"a", ";", ";;", ";=a", ";a=", "; a", ";a ", ";a=b\"", ";a=\"b\"c", ";a==b"}) {
        INFO(text);
        CHECK_FALSE(http::detail::valid_chunk_extensions(text));
    }
}
