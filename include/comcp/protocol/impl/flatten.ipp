// SPDX-License-Identifier: MIT
//
// Results as text: see protocol/flatten.hpp.
#pragma once

#include <comcp/protocol/flatten.hpp>

namespace comcp::inline COMCP_ABI
{

namespace detail
{

/// How many code points of the JSON of a block that is not known are shown.
inline constexpr std::size_t unknown_block_cap = 1000;

/// How deep JSON inside of a text may nest to be recognised as a copy of the structured content.
inline constexpr std::size_t repeated_json_depth = 128;

inline std::string media_note(std::string_view kind, std::string_view mime_type, std::string_view base64)
{
    std::string out = "[";
    out += kind;
    if (!mime_type.empty()) (out += ' ') += mime_type;
    if (const auto size = base64_decoded_size(base64)) {
        ((out += ", ") += std::to_string(*size)) += " bytes]";
    } else {
        out += ", not valid base64]";
    }
    return out;
}

inline std::string link_note(const resource_link& link)
{
    std::string out = "[resource link " + link.uri;
    const auto add = [&out](std::string_view label, std::string_view text) {
        if (!text.empty()) ((out += ", ") += label) += text;
    };
    add("name: ", link.name);
    add("title: ", link.title);
    add("type: ", link.mime_type);
    if (link.size) ((out += ", ") += std::to_string(*link.size)) += " bytes";
    add("description: ", link.description);
    out += ']';
    return out;
}

/// What text there is in a block that is not known, else its JSON.
inline std::string unknown_text(const json::value& raw)
{
    if (const json::object* object = raw.if_object()) {
        if (const auto text = string_member(*object, "text")) return std::string(*text);
    }
    std::string written;
    write_value(written, raw);
    const std::size_t end = code_point_offset(written, unknown_block_cap);
    if (end < written.size()) {
        written.resize(end);
        written += "\u2026";
    }
    return written;
}

inline std::string tool_use_note(const tool_use_content& use)
{
    std::string out = "[tool use " + use.name + ", id: " + use.id + ", input: ";
    write_value(out, use.input);
    out += ']';
    return out;
}

inline std::string tool_result_note(const tool_result_content& given)
{
    std::string out = given.is_error ? "[tool error" : "[tool result";
    out += ", id: " + given.tool_use_id + ']';
    for (const content& block : given.content) (out += '\n') += block_text(block);
    if (given.structured && given.content.empty()) write_value(out += '\n', *given.structured);
    return out;
}

COMCP_DECL std::string block_text(const content& block)
{
    struct visitor
    {
        std::string operator()(const text_content& b) const { return b.text; }
        std::string operator()(const image_content& b) const { return media_note("image", b.mime_type, b.data); }
        std::string operator()(const audio_content& b) const { return media_note("audio", b.mime_type, b.data); }
        std::string operator()(const resource_link& b) const { return link_note(b); }
        std::string operator()(const embedded_resource& b) const
        {
            if (b.text) return *b.text;
            return media_note("resource " + b.uri, b.mime_type, b.blob ? std::string_view(*b.blob) : "");
        }
        std::string operator()(const tool_use_content& b) const { return tool_use_note(b); }
        std::string operator()(const tool_result_content& b) const { return tool_result_note(b); }
        std::string operator()(const unknown_content& b) const { return unknown_text(b.raw); }
    };
    return std::visit(visitor(), block.block);
}

COMCP_DECL bool write_structured(std::string& out, const tool_result& from)
{
    std::optional<std::string_view> kept;
    if (!from.source.empty()) {
        kept = member_source(from.source, "structuredContent");
        const auto wrapper = kept ? std::nullopt : member_source(from.source, "toolResult");
        if (wrapper) kept = member_source(*wrapper, "structuredContent");
    }
    if (!kept) return !from.structured || write_value(out, *from.structured);
    out += *kept;
    return true;
}

COMCP_DECL std::string structured_text(const tool_result& from)
{
    std::string written;
    write_structured(written, from);
    return written;
}

/// Whether a text is the JSON of a value; for a string also the string itself.
inline bool is_json_of(std::string_view text, const json::value& value)
{
    if (const json::string* plain = value.if_string()) {
        if (text == std::string_view(plain->data(), plain->size())) return true;
    }
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos) return false;
    // Most texts are not JSON at all: look at one character before parsing.
    if (value.is_object() != (text[first] == '{') || value.is_array() != (text[first] == '[')) return false;
    const auto parsed = parse_json(text, repeated_json_depth);
    return parsed && *parsed == value;
}

COMCP_DECL bool text_repeats_structured(const tool_result& from)
{
    const json::object* object = from.structured->if_object();
    // Servers wrap a scalar as {"result": x}, or a text as the only member of any name, and send the bare value as
    // text.
    const json::value* only = object && object->size() == 1 ? &object->begin()->value() : nullptr;
    const json::value* wrapped = only && object->contains("result") ? only : nullptr;
    const json::string* wrapped_text = only ? only->if_string() : nullptr;
    for (const content& block : from.content) {
        const std::string* text = block.as_text();
        if (!text) continue;
        if (is_json_of(*text, *from.structured) || (wrapped && is_json_of(*text, *wrapped))) return true;
        if (wrapped_text && *text == std::string_view(wrapped_text->data(), wrapped_text->size())) return true;
    }
    return false;
}

} // namespace detail

COMCP_DECL std::string flatten(const tool_result& from, unsafe_integers how)
{
    const auto repeats = [&](const std::string& text) {
        return from.structured && !from.structured->is_string() && detail::is_json_of(text, *from.structured);
    };
    const bool quoted = how == unsafe_integers::quoted;
    std::string out;
    bool first = true;
    const auto add = [&](std::string_view text) {
        if (!first) out += '\n';
        first = false;
        out += text;
    };
    for (const content& block : from.content) {
        if (const std::string* text = block.as_text()) {
            if (quoted && repeats(*text)) add(quote_unsafe_integers(*text));
            else add(*text);
        } else {
            add(detail::block_text(block));
        }
    }
    // A null says nothing to a reader, whether it was meant or is a member that was not set.
    if (from.structured && !from.structured->is_null() && !detail::text_repeats_structured(from)) {
        const std::string text = detail::structured_text(from);
        if (quoted) add(quote_unsafe_integers(text));
        else add(text);
    }
    return out;
}

} // namespace comcp::inline COMCP_ABI
