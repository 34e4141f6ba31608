// SPDX-License-Identifier: MIT
//
// Tools and their results, as every revision means them. Readers take what is in the field: a bad tool is a fault of
// that tool alone, and any result can be read. Not for how a revision writes them (wire/), nor for checking values
// against a schema.
#pragma once

#include <comcp/protocol/content.hpp>
#include <comcp/result.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace comcp::inline COMCP_ABI
{

/// Hints of a server about a tool. They are untrusted unless the server is trusted (F-16).
///
/// The functions give the effective value: what the specification says holds when a hint is not there.
class tool_annotations
{
public:
    std::string title;
    std::optional<bool> read_only_hint;
    std::optional<bool> destructive_hint;
    std::optional<bool> idempotent_hint;
    std::optional<bool> open_world_hint;
    json::object extra; ///< members that the specification does not name

    /// It changes nothing. Default: no.
    bool read_only() const noexcept { return read_only_hint.value_or(false); }
    /// It may destroy. Default: yes, unless it is read-only.
    bool destructive() const noexcept { return !read_only() && destructive_hint.value_or(true); }
    /// Doing it again changes nothing more. Default: no, unless it is read-only.
    bool idempotent() const noexcept { return read_only() || idempotent_hint.value_or(false); }
    /// It deals with things outside. Default: yes.
    bool open_world() const noexcept { return open_world_hint.value_or(true); }

    bool empty() const noexcept
    {
        return title.empty() && !read_only_hint && !destructive_hint && !idempotent_hint && !open_world_hint &&
               extra.empty();
    }

    static tool_annotations read(const json::object& from)
    {
        tool_annotations read;
        read.title = detail::text_member(from, "title");
        read.read_only_hint = bool_member(from, "readOnlyHint");
        read.destructive_hint = bool_member(from, "destructiveHint");
        read.idempotent_hint = bool_member(from, "idempotentHint");
        read.open_world_hint = bool_member(from, "openWorldHint");
        read.extra = detail::unknown_members(
            from, {"title", "readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"});
        return read;
    }
};

/// A tool as a server offers it. What is empty was not given.
class tool
{
public:
    std::string name;
    std::string title;
    std::string description;
    json::object input_schema;
    std::optional<json::object> output_schema;
    tool_annotations annotations;
    std::vector<icon> icons;
    json::object meta;  ///< `_meta`
    json::object extra; ///< members that are not listed here, such as `execution`

    tool() = default;
    explicit tool(std::string tool_name) : name(std::move(tool_name)) {}

    /// What a person should see: title, else the title in the annotations, else the name.
    const std::string& display_name() const noexcept
    {
        return !title.empty() ? title : !annotations.title.empty() ? annotations.title : name;
    }
};

/// Reads one item of a list of tools.
///
/// A fault means this tool cannot be called: no name, or an input schema that is not an object. An output schema that
/// is not an object is left out.
result<tool> read_tool(const json::value& from);

/// What a call of a tool gave. A tool that failed is a result too: see `is_error`.
class tool_result
{
public:
    std::vector<comcp::content> content;
    /// `structuredContent`, of any type; nothing when it was not there, which is not the same as null (F-7).
    std::optional<json::value> structured;
    bool is_error = false;
    json::object meta;  ///< `_meta`
    json::object extra; ///< members that the specification does not name
    /// What was malformed, one sentence each; empty for a sound result.
    std::vector<std::string> oddities;
    /// The whole result as it was received, when it was kept: numbers have their exact text there. It goes before
    /// `structured` when that is written: clear it when you change the value.
    std::string source;

    tool_result() = default;

    static tool_result text(std::string value)
    {
        tool_result made;
        made.content.push_back(comcp::content::text(std::move(value)));
        return made;
    }

    /// A failure that the model should see.
    static tool_result error(std::string value)
    {
        tool_result made = text(std::move(value));
        made.is_error = true;
        return made;
    }
};

/// Reads a result of tools/call into `read`, which must be fresh and owns its memory. Never fails: what is odd is kept,
/// and named in `oddities`. Give `source`, the text of the same object, to keep it.
void read_tool_result(const json::object& from, std::string_view source, tool_result& read);

tool_result read_tool_result(const json::object& from, std::string_view source = {});

} // namespace comcp::inline COMCP_ABI

#if !defined(COMCP_SEPARATE)
#include <comcp/protocol/impl/tools.ipp>
#endif
