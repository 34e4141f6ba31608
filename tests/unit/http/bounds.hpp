// SPDX-License-Identifier: MIT
// Messages whose heads are just below, at, and just above each of our bounds, for differential tests: another parser
// whose limits are set to the same must be of the same opinion.
#pragma once

#include <comcp/http/limits.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace http_test
{

struct bounded
{
    std::string what; ///< "line", "fields" or "count"
    int over;         ///< the bound itself is 0; beyond it the message is to be refused
    std::size_t fields;
    std::string text;
};

inline std::vector<bounded> at_the_bounds(bool request, const comcp::http_limits& limits = {})
{
    const std::string begin = request ? "GET /" : "HTTP/1.1 200 ";
    const std::string end = request ? " HTTP/1.1" : "";
    const std::string host = request ? "Host: a\r\n" : "";
    const std::string rest = request ? "\r\n" : "Content-Length: 0\r\n\r\n";
    const std::string line = begin + end + "\r\n";
    const std::size_t others = 1; // of the fields: Host, or Content-Length
    const std::size_t other_bytes = host.size() + rest.size() - 2;

    std::vector<bounded> made;
    for (const int over : {-1, 0, 1}) {
        const auto filled = [over](std::size_t bound, std::size_t taken) {
            return std::string(bound + static_cast<std::size_t>(over + 1) - 1 - taken, 'x');
        };
        const std::string filler = filled(limits.line, begin.size() + end.size());
        made.push_back({"line", over, others, begin + filler + end + "\r\n" + host + rest});
        const std::string value = filled(limits.fields, other_bytes + 4);
        made.push_back({"fields", over, others + 1, line + host + "X:" + value + "\r\n" + rest});
        std::string many;
        const std::size_t count = limits.field_count + static_cast<std::size_t>(over + 1) - 1;
        for (std::size_t i = others; i < count; ++i) many += "X-" + std::to_string(i) + ": y\r\n";
        made.push_back({"count", over, count, line + host + many + rest});
    }
    return made;
}

} // namespace http_test
