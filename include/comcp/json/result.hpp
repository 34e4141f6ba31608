// SPDX-License-Identifier: MIT
//
// The result of a request of any method, as JSON.
#pragma once

#include <comcp/config.hpp>

#include <boost/json/object.hpp>

#include <string>

namespace comcp::inline COMCP_ABI
{

/// A result as it came: the value, and its text where the session keeps texts (exact for numbers of any size).
struct json_result
{
    json::object value;
    std::string source;
};

} // namespace comcp::inline COMCP_ABI
