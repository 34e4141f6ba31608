// SPDX-License-Identifier: MIT
//
// Writes JSON-RPC messages as text, appended to a string. Params, results and error data come as finished JSON text
// and are not copied twice. A message never contains a newline, whatever text is put into it; the newline that ends a
// line belongs to the transport.
#pragma once

#include <comcp/config.hpp>
#include <comcp/json/write.hpp>
#include <comcp/rpc/id.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace comcp::inline COMCP_ABI::rpc
{

/// Appends JSON text. Newlines in it stand between tokens (inside a string they would be escaped): they become spaces.
inline void write_raw(std::string& out, std::string_view text)
{
    const std::size_t from = out.size();
    out += text;
    for (const char newline : {'\n', '\r'}) {
        for (auto at = out.find(newline, from); at != out.npos; at = out.find(newline, at + 1)) out[at] = ' ';
    }
}

inline void end_message(std::string& out) { out += '}'; }

namespace detail
{

inline void write_call(std::string& out, std::string_view method, std::string_view params)
{
    out += "\"method\":";
    write_string(out, method);
    if (!params.empty()) {
        out += ",\"params\":";
        write_raw(out, params);
    }
    end_message(out);
}

} // namespace detail

/// Appends a request; an empty `params` means none.
inline void write_request(std::string& out, const id& request, std::string_view method, std::string_view params = {})
{
    out += R"({"jsonrpc":"2.0","id":)";
    request.write(out);
    out += ',';
    detail::write_call(out, method, params);
}

/// The same for a number that is not an `id` yet.
template <std::integral Int>
    requires(!std::same_as<Int, bool>)
void write_request(std::string& out, Int request, std::string_view method, std::string_view params = {})
{
    out += R"({"jsonrpc":"2.0","id":)";
    write_integer(out, request);
    out += ',';
    detail::write_call(out, method, params);
}

inline void write_notification(std::string& out, std::string_view method, std::string_view params = {})
{
    out += R"({"jsonrpc":"2.0",)";
    detail::write_call(out, method, params);
}

/// Begins a result: the caller appends one JSON object without newlines, then `end_message`.
inline void begin_result(std::string& out, const id& request)
{
    if (!request.is_string())
        return comcp::detail::append_all(out, {R"({"jsonrpc":"2.0","id":)", request.text(), R"(,"result":)"});
    out += R"({"jsonrpc":"2.0","id":)";
    request.write(out);
    out += ",\"result\":";
}

inline void write_result(std::string& out, const id& request, std::string_view result)
{
    begin_result(out, request);
    write_raw(out, result);
    end_message(out);
}

namespace detail
{

inline void write_error_members(std::string& out, std::int64_t code, std::string_view message, std::string_view data)
{
    out += "\"error\":{\"code\":";
    write_integer(out, code);
    out += ",\"message\":";
    write_string(out, message);
    if (!data.empty()) {
        out += ",\"data\":";
        write_raw(out, data);
    }
    out += '}';
    end_message(out);
}

} // namespace detail

/// Appends an error answer. Without a request (its id could not be read) the id is null; empty `data` means none.
inline void write_error(std::string& out, const id* request, std::int64_t code, std::string_view message,
                        std::string_view data = {})
{
    out += R"({"jsonrpc":"2.0","id":)";
    if (request) {
        request->write(out);
    } else {
        out += "null";
    }
    out += ',';
    detail::write_error_members(out, code, message, data);
}

/// The same without an id member, for revisions whose schema has no null id (2025-11-25, schema: JSONRPCErrorResponse).
inline void write_error_without_id(std::string& out, std::int64_t code, std::string_view message,
                                   std::string_view data = {})
{
    out += R"({"jsonrpc":"2.0",)";
    detail::write_error_members(out, code, message, data);
}

} // namespace comcp::inline COMCP_ABI::rpc
