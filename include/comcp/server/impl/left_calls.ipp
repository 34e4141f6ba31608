// SPDX-License-Identifier: MIT
//
// The calls of a process that is gone: see server/left_calls.hpp.
#pragma once

#include <comcp/json/source.hpp>
#include <comcp/json/value.hpp>
#include <comcp/rpc/id.hpp>
#include <comcp/rpc/print.hpp>
#include <comcp/server/left_calls.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace comcp::inline COMCP_ABI::detail
{

/// An id that is longer is not kept.
inline constexpr std::size_t longest_kept_id = 256;

inline std::string_view id_of_call(std::string_view message)
{
    const auto id = member_source(message, "id");
    return id && id->size() <= longest_kept_id && member_source(message, "method") ? *id : std::string_view();
}

COMCP_DECL std::string ids_of_calls(std::string_view body)
{
    std::size_t at = skip_space(body, 0);
    std::string ids;
    if (at < body.size() && body[at] == '[') {
        for (at = skip_space(body, at + 1); at < body.size() && body[at] != ']';) {
            const std::size_t end = skip_value(body, at);
            if (end <= at) break;
            const std::string_view id = id_of_call(body.substr(at, end - at));
            if (!id.empty()) (ids += ids.empty() ? '[' : ',') += id;
            at = skip_space(body, end);
            if (at < body.size() && body[at] == ',') at = skip_space(body, at + 1);
        }
        if (!ids.empty()) ids += ']';
    } else {
        ids = id_of_call(body);
    }
    return ids.empty() ? "null" : ids;
}

inline void answer_left_call(std::string& out, const rpc::id* id)
{
    constexpr std::string_view why = "this request ran in another process, and its outcome is unknown";
    constexpr std::string_view data = R"({"retryable":false,"outcome":"unknown"})";
    if (id) rpc::write_error(out, id, rpc_code::internal_error, why, data);
    else rpc::write_error_without_id(out, rpc_code::internal_error, why, data);
}

inline std::optional<rpc::id> read_left_id(const json::value& from, std::string_view text)
{
    if (const json::string* name = from.if_string()) return rpc::id::string(std::string(name->data(), name->size()));
    return from.is_number() ? rpc::id::from_number(text) : std::nullopt;
}

COMCP_DECL std::string answer_left_calls(std::string_view ids)
{
    std::string out;
    const auto parsed = parse_json(ids, 2);
    const json::array* batch = parsed ? parsed->if_array() : nullptr;
    if (!batch) {
        const auto id = parsed ? read_left_id(*parsed, ids) : std::nullopt;
        answer_left_call(out, id ? &*id : nullptr);
        return out;
    }
    std::size_t at = skip_space(ids, 0);
    for (const json::value& each : *batch) {
        at = skip_space(ids, at + 1); // behind the bracket or the comma
        const std::size_t end = skip_value(ids, at);
        const auto id = read_left_id(each, ids.substr(at, end - at));
        out += out.empty() ? '[' : ',';
        answer_left_call(out, id ? &*id : nullptr);
        at = skip_space(ids, end);
    }
    return out + ']';
}

} // namespace comcp::inline COMCP_ABI::detail
