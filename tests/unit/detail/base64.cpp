// SPDX-License-Identifier: MIT
#include <comcp/detail/base64.hpp>

#include "catch.hpp"

#include <string>

using namespace comcp::detail;

TEST_CASE("base64 follows the test vectors of RFC 4648", "[detail]")
{
    const auto [bytes, text] = GENERATE(table<std::string, std::string>({
        {"", ""},
        {"f", "Zg=="},
        {"fo", "Zm8="},
        {"foo", "Zm9v"},
        {"foob", "Zm9vYg=="},
        {"fooba", "Zm9vYmE="},
        {"foobar", "Zm9vYmFy"},
        {std::string("\x00\xFF\xFB\xEF", 4), "AP/77w=="},
    }));
    CHECK(base64_encode(bytes) == text);
    CHECK(base64_decode(text) == bytes);
    CHECK(base64_decoded_size(text) == bytes.size());
}

TEST_CASE("every byte survives base64 at every length", "[detail]")
{
    std::string bytes;
    for (int i = 0; i < 300; ++i) {
        CHECK(base64_decode(base64_encode(bytes)) == bytes);
        bytes += static_cast<char>(i * 7);
    }
}

TEST_CASE("text that is not strict base64 is refused", "[detail]")
{
    for (const char* text :
         {"Z", "Zg", "Zg=", "Zg===", "Zm9", "Z===", "====", "Zm=v", "Zg==Zg==", "Zm9v\n", "Zm 9v===", "Zm-_",
          "Zh==", "Zm9=", "https://x/y.png", "data:image/png;base64,iVBO", "\xC3\xA9\xC3\xA9"}) {
        CAPTURE(text);
        CHECK_FALSE(base64_decode(text));
        CHECK_FALSE(base64_decoded_size(text));
    }
}
