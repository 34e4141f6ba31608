// SPDX-License-Identifier: MIT
// Needs the headers and the compiled parts of Boost.JSON.
#include <comcp/comcp.hpp>

#include <iostream>

int main()
{
    const auto value = boost::json::parse(R"({"jsonrpc":"2.0","id":1})");
    std::cout << boost::json::serialize(value) << '\n';
    return value.at("id").as_int64() == 1 ? 0 : 1;
}
