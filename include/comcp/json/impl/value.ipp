// SPDX-License-Identifier: MIT
//
// The parser's settings and the look-ups: see json/value.hpp.
#pragma once

#include <comcp/json/value.hpp>

namespace comcp::inline COMCP_ABI
{

COMCP_DECL result<json::value> parse_json(std::string_view text, std::size_t depth, json::storage_ptr storage)
{
    json::parse_options options;
    options.max_depth = depth;
    unsigned char scratch[4096]; // what a small message needs while it is parsed; a larger one goes on in the heap
    json::parser parser(json::storage_ptr(), options, scratch, sizeof(scratch));
    parser.reset(std::move(storage));
    boost::system::error_code code;
    const std::size_t used = parser.write(text.data(), text.size(), code);
    if (code) {
        const bool deep = code == json::error::too_deep;
        return fail(deep ? errc::too_deep : errc::parse_error, code.message() + " at byte " + std::to_string(used));
    }
    return parser.release();
}

COMCP_DECL const json::value* member(const json::object& object, std::string_view key) noexcept
{
    const json::value* found = object.if_contains(json::string_view(key.data(), key.size()));
    return found && !found->is_null() ? found : nullptr;
}

COMCP_DECL const json::object* object_member(const json::object& object, std::string_view key) noexcept
{
    const json::value* found = member(object, key);
    return found ? found->if_object() : nullptr;
}

COMCP_DECL const json::array* array_member(const json::object& object, std::string_view key) noexcept
{
    const json::value* found = member(object, key);
    return found ? found->if_array() : nullptr;
}

COMCP_DECL std::optional<std::string_view> string_member(const json::object& object, std::string_view key) noexcept
{
    const json::value* found = member(object, key);
    const json::string* text = found ? found->if_string() : nullptr;
    if (!text) return std::nullopt;
    return std::string_view(text->data(), text->size());
}

COMCP_DECL std::optional<bool> bool_member(const json::object& object, std::string_view key) noexcept
{
    const json::value* found = member(object, key);
    if (!found || !found->is_bool()) return std::nullopt;
    return found->get_bool();
}

COMCP_DECL std::optional<double> number_member(const json::object& object, std::string_view key) noexcept
{
    const json::value* found = member(object, key);
    if (!found) return std::nullopt;
    if (found->is_int64()) return static_cast<double>(found->get_int64());
    if (found->is_uint64()) return static_cast<double>(found->get_uint64());
    if (found->is_double() && std::isfinite(found->get_double())) return found->get_double();
    return std::nullopt;
}

COMCP_DECL std::optional<std::int64_t> integer_member(const json::object& object, std::string_view key) noexcept
{
    const json::value* found = member(object, key);
    if (!found) return std::nullopt;
    if (found->is_int64()) return found->get_int64();
    if (!found->is_double()) return std::nullopt; // Boost.JSON has uint64 only for what is beyond int64
    const double number = found->get_double();
    if (!(number >= -0x1p63 && number < 0x1p63) || number != std::trunc(number)) return std::nullopt;
    return static_cast<std::int64_t>(number);
}

} // namespace comcp::inline COMCP_ABI
