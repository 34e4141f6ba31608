// SPDX-License-Identifier: MIT
//
// From JSON text to a value, and lenient looks into one. `parse_json` takes one whole text, bounds its nesting and
// never throws for what it reads; the accessors treat a member that is missing, null or of another type alike, which
// is what readers of optional wire fields want. Not for user arguments: bind.hpp reports each mistake there.
#pragma once

#include <comcp/result.hpp>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parser.hpp>
#include <boost/json/string.hpp>
#include <boost/json/value.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace comcp::inline COMCP_ABI
{

/// Parses a text that must be exactly one JSON value in valid UTF-8, nested at most `depth` deep (the outermost array
/// or object is 1). The faults are `errc::too_deep`, and `errc::parse_error` for anything else, with the offset in
/// the text of both. Of a key that is there twice the last value stays.
inline result<json::value> parse_json(std::string_view text, std::size_t depth, json::storage_ptr storage = {})
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

/// The member, or null when it is missing or is a JSON null.
inline const json::value* member(const json::object& object, std::string_view key) noexcept
{
    const json::value* found = object.if_contains(json::string_view(key.data(), key.size()));
    return found && !found->is_null() ? found : nullptr;
}

/// The member when it is an object, else null.
inline const json::object* object_member(const json::object& object, std::string_view key) noexcept
{
    const json::value* found = member(object, key);
    return found ? found->if_object() : nullptr;
}

/// The member when it is an array, else null.
inline const json::array* array_member(const json::object& object, std::string_view key) noexcept
{
    const json::value* found = member(object, key);
    return found ? found->if_array() : nullptr;
}

/// The member when it is a string; the view lives as long as the object.
inline std::optional<std::string_view> string_member(const json::object& object, std::string_view key) noexcept
{
    const json::value* found = member(object, key);
    const json::string* text = found ? found->if_string() : nullptr;
    if (!text) return std::nullopt;
    return std::string_view(text->data(), text->size());
}

/// The member when it is true or false.
inline std::optional<bool> bool_member(const json::object& object, std::string_view key) noexcept
{
    const json::value* found = member(object, key);
    if (!found || !found->is_bool()) return std::nullopt;
    return found->get_bool();
}

/// The member when it is a number that a double can hold: 1E400, which parses as infinity, is absent.
inline std::optional<double> number_member(const json::object& object, std::string_view key) noexcept
{
    const json::value* found = member(object, key);
    if (!found) return std::nullopt;
    if (found->is_int64()) return static_cast<double>(found->get_int64());
    if (found->is_uint64()) return static_cast<double>(found->get_uint64());
    if (found->is_double() && std::isfinite(found->get_double())) return found->get_double();
    return std::nullopt;
}

/// The member when it is a whole number that fits; `3.0` is one.
inline std::optional<std::int64_t> integer_member(const json::object& object, std::string_view key) noexcept
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
