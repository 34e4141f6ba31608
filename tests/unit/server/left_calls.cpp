// SPDX-License-Identifier: MIT
#include "catch.hpp"

#include <comcp/server/left_calls.hpp>

#include <string>

using comcp::detail::answer_left_calls;
using comcp::detail::ids_of_calls;

namespace
{

std::string error_of(const std::string& id)
{
    return R"({"jsonrpc":"2.0",)" + (id.empty() ? id : R"("id":)" + id + ',') +
           R"("error":{"code":-32603,"message":"this request ran in another process, and its outcome is )"
           R"(unknown","data":{"retryable":false,"outcome":"unknown"}}})";
}

} // namespace

TEST_CASE("The ids of the calls in a body are told as they stand there")
{
    CHECK(ids_of_calls(R"({"jsonrpc":"2.0","id":7,"method":"m"})") == "7");
    CHECK(ids_of_calls(R"( {"method":"m" , "id" : "a\u0062" } )") == R"("a\u0062")");
    CHECK(ids_of_calls(R"({"id":123456789012345678901234567890,"method":"m"})") == "123456789012345678901234567890");
    CHECK(ids_of_calls(R"({"id":7,"result":{"method":"m"}})") == "null"); // an answer
    CHECK(ids_of_calls(R"({"method":"m"})") == "null");
    CHECK(ids_of_calls("{\"method\":\"m\",\"id\":\"" + std::string(300, 'x') + "\"}") == "null");
    CHECK(ids_of_calls(R"([{"id":1,"method":"m"} , {"method":"n"},{"id":"b","method":"m","params":[{}]}])") ==
          R"([1,"b"])");
    CHECK(ids_of_calls("[]") == "null");
}

TEST_CASE("Any bytes for a body are only looked at")
{
    const std::string text = R"([{"id":1,"method":"m"},[{"id":2}],"x"])";
    for (std::size_t from = 0; from < text.size(); ++from)
        for (std::size_t size = 0; size <= text.size() - from; ++size)
            CHECK_FALSE(ids_of_calls(text.substr(from, size)).empty());
}

TEST_CASE("Each call that was left is answered that nothing is known of it")
{
    CHECK(answer_left_calls("7") == error_of("7"));
    CHECK(answer_left_calls(R"("a\u0062")") == error_of(R"("ab")"));
    CHECK(answer_left_calls("123456789012345678901234567890") == error_of("123456789012345678901234567890"));
    CHECK(answer_left_calls(R"([1,"b"])") == '[' + error_of("1") + ',' + error_of(R"("b")") + ']');
    CHECK(answer_left_calls(R"( [ 1 , "b" ] )") == '[' + error_of("1") + ',' + error_of(R"("b")") + ']');
    for (const char* none : {"null", "", "x", "{}", "1.5", "[[1]]x"}) CHECK(answer_left_calls(none) == error_of(""));
    CHECK(answer_left_calls("[{}]") == '[' + error_of("") + ']');
}
