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
result<json::value> parse_json(std::string_view text, std::size_t depth, json::storage_ptr storage = {});

/// The member, or null when it is missing or is a JSON null.
const json::value* member(const json::object& object, std::string_view key) noexcept;

/// The member when it is an object, else null.
const json::object* object_member(const json::object& object, std::string_view key) noexcept;

/// The member when it is an array, else null.
const json::array* array_member(const json::object& object, std::string_view key) noexcept;

/// The member when it is a string; the view lives as long as the object.
std::optional<std::string_view> string_member(const json::object& object, std::string_view key) noexcept;

/// The member when it is true or false.
std::optional<bool> bool_member(const json::object& object, std::string_view key) noexcept;

/// The member when it is a number that a double can hold: 1E400, which parses as infinity, is absent.
std::optional<double> number_member(const json::object& object, std::string_view key) noexcept;

/// The member when it is a whole number that fits; `3.0` is one.
std::optional<std::int64_t> integer_member(const json::object& object, std::string_view key) noexcept;

} // namespace comcp::inline COMCP_ABI

#if !defined(COMCP_SEPARATE)
#include <comcp/json/impl/value.ipp>
#endif
