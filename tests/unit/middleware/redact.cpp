// SPDX-License-Identifier: MIT
#include <comcp/middleware/redact.hpp>

#include "catch.hpp"

#include <random>
#include <string>

namespace
{

std::string shown(std::string_view json) { return comcp::redaction().apply(json); }

} // namespace

TEST_CASE("what is no secret is shown as it is", "[redact]")
{
    for (const auto* text :
         {R"({"name":"greet","arguments":{"text":"hi","n":[1,2.5e3,true,null]}})", "{}", "[]", "", "\"x\"", "12",
          "nonsense", R"({"progressToken":"p","maxTokens":5,"tokenizer":"bpe","secretary":"Eve"})",
          R"({"a":"Grüße, 世界 🙂"})", R"({"a":"say \"token\": x","b":"basic understanding"})",
          R"({"a":{"b":{"c":{}}}})"})
        CHECK(shown(text) == text);
}

TEST_CASE("the value of a secret key is taken out, however the key is spelled and whatever the value is", "[redact]")
{
    const auto key = GENERATE("authorization", "Authorization", "PROXY-AUTHORIZATION", "token", "access_token",
                              "refreshToken", "id-token", "password", "db_password", "Passwd", "passphrase", "secret",
                              "client_secret", "api_key", "apiKey", "X-API-Key", "cookie", "Set-Cookie", "private_key",
                              "credentials", "pass\\u0077ord", "to\\u006Ben", "api\\u005fkey", "A P I key");
    const auto value = GENERATE(R"("xyzzy")", "12", "null", R"(["xyzzy",{"a":"xyzzy"}])", R"({"a":{"b":"}xyzzy"}})",
                                R"("\"xyzzy\\")", R"("xyzzy,\"b\":1")");
    const std::string text = std::string(R"({"a":1,")") + key + "\" : " + value + R"(,"b":"c"})";
    CHECK(shown(text) == std::string(R"({"a":1,")") + key + R"(":"[secret]","b":"c"})");
    CHECK(shown(std::string("[{\"") + key + "\":" + value + "}]") == std::string("[{\"") + key + R"(":"[secret]"}])");
}

TEST_CASE("a string that looks like a token is taken out under any key", "[redact]")
{
    for (const auto* value :
         {"Bearer abcdefgh12345", "bearer abcdefgh12345", "curl -H 'Authorization: Bearer abcdefgh12345'",
          "Basic dXNlcjpwYXNzd29yZA==", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N",
          "sk-abcdefghijklmnopqrst", "ghp_abcdefghijklmnopqrstuvwxyz", "see xoxb-1234567890-abcdefghijk",
          "be\\u0061rer abcdefgh12345", "url?x=sk-abcdefghijklmnopqrst"}) {
        CHECK(shown(std::string(R"({"text":")") + value + "\"}") == R"({"text":"[secret]"})");
        CHECK(shown(std::string("[\"") + value + "\",1]") == R"(["[secret]",1])");
    }
    for (const auto* value : {"the bearer of news", "bearer x", "risk-averse and more words", "eyjafjallajökull"})
        CHECK(shown(std::string("[\"") + value + "\"]") == std::string("[\"") + value + "\"]");
}

TEST_CASE("a user's own keys are secret too", "[redact]")
{
    comcp::redaction how;
    how.key("Social-Security").key("");
    CHECK(how.apply(R"({"social_security":1,"her_socialsecurity":2,"x":3,"token":4})") ==
          R"({"social_security":"[secret]","her_socialsecurity":"[secret]","x":3,"token":"[secret]"})");
    CHECK(how.is_secret_key("SOCIALSECURITY"));
    CHECK_FALSE(how.is_secret_key("social"));
    CHECK_FALSE(how.is_secret_key(""));
}

TEST_CASE("a text that is cut or no JSON keeps its secrets", "[redact]")
{
    const std::string text =
        R"({"a":[{"password":{"deep":["xyzzy"]},"b":"Bearer xyzzyxyzzyxyzzy"},{"token":"xyzzy"}]})";
    for (std::size_t cut = 0; cut <= text.size(); ++cut) {
        CHECK(shown(text.substr(0, cut)).find("xyzzyxyzzy") == std::string::npos);
        if (cut < text.find("Bearer")) CHECK(shown(text.substr(0, cut)).find("xyzzy") == std::string::npos);
    }
    CHECK(shown("{\"password\":") == "{\"password\":\"[secret]\"");
    CHECK(shown("\"password\": x y z, \"b\"") == "\"password\":\"[secret]\", \"b\"");
    CHECK(shown("]]}}{") == "]]}}{");
}

TEST_CASE("size and nesting are bounded", "[redact]")
{
    comcp::redaction how;
    how.most(10);
    CHECK(how.apply(R"({"a":"b"})") == R"({"a":"b"})");
    CHECK(how.apply(R"({"a":"bcd"})") == R"({"a":"bcd"... (11 bytes))");
    CHECK(how.apply(R"({"a":"世界世界"})") == R"({"a":"世界... (20 bytes))"); // no cut inside of a code point
    CHECK(how.apply(std::string(1'000'000, ' ')).empty());
    CHECK(how.apply("[" + std::string(1'000'000, '7')) == "[777777777... (1000001 bytes)");
    how.most(0);
    CHECK(how.apply("{}") == "... (2 bytes)");

    comcp::redaction flat;
    flat.depth(2);
    CHECK(flat.apply(R"({"a":[1,{"b":"]}"},[2]],"c":[[3]],"d":{}})") == R"({"a":[1,{...},[...]],"c":[[...]],"d":{}})");
    const std::string deep(100'000, '[');
    CHECK(comcp::redaction().apply(deep) == std::string(16, '[') + "[...]");
}

TEST_CASE("no text makes up a line", "[redact]")
{
    CHECK(shown("{\"a\":\n\t \"b\nc\x1b[31m\x7f\"}") == R"({"a": "b\nc\x1b[31m\x7f"})");
    CHECK(shown("[\"\xff\xc3\",\"\xc2\x85\",\"\xe2\x80\xa8\xe2\x80\xae\xe2\x81\xa6\"]") ==
          R"(["\xff\xc3","\u0085","\u2028\u202e\u2066"])");
    CHECK(comcp::log_text("a\"b\\\r\n") == R"("a\"b\\\r\n")");
    CHECK(comcp::log_text("\\") == R"("\\")");
    CHECK(comcp::log_text("") == R"("")");
    CHECK(comcp::log_text("abcdef", 3) == R"("abc"...)");
    CHECK(comcp::log_text(std::string("\0x", 2)) == R"("\x00x")");
}

TEST_CASE("any bytes give one bounded line without control characters and without the secret", "[redact]")
{
    std::mt19937 random(7);
    const std::string pieces[] = {
        "{",     "}",    "[",       "]",  ":",  ",",          "\"",   "\\",   "\\u00",      "\\\"",
        "token", " ",    "\n",      "\t", "1",  "\"a\"",      "\xc3", "\xff", "\xe2\x80",   "\xe2\x80\xa8",
        "\x1b",  "\x7f", "Bearer ", "é",  "e5", "\"token\":", "null", "true", "\"secret\"", "\x00"};
    for (int round = 0; round < 20'000; ++round) {
        std::string text;
        for (auto left = random() % 40; left != 0; --left) text += pieces[random() % std::size(pieces)];
        const std::string hidden = "[{\"password\":\"xyzzy\"}," + text;
        for (const std::string& each : {text, hidden}) {
            comcp::redaction how;
            how.most(random() % 100).depth(random() % 4);
            const std::string line = how.apply(each);
            bool clean = line.size() < 150 && line.find("xyzzy") == std::string::npos;
            for (const char c : line)
                if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) clean = false;
            if (clean) continue;
            FAIL_CHECK("round " << round << ": " << line);
        }
    }
}
