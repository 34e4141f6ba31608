// SPDX-License-Identifier: MIT
//
// Reading content: see protocol/content.hpp.
#pragma once

#include <comcp/protocol/content.hpp>

namespace comcp::inline COMCP_ABI
{

namespace detail
{

COMCP_DECL std::optional<content_annotations> read_annotations(const json::object& from)
{
    const json::object* object = object_member(from, "annotations");
    if (!object) return std::nullopt;
    content_annotations read;
    read.audience = read_strings(*object, "audience");
    read.priority = number_member(*object, "priority");
    read.last_modified = text_member(*object, "lastModified");
    read.extra = unknown_members(*object, {"audience", "priority", "lastModified"});
    return read;
}

COMCP_DECL void read_blocks(const json::value& from, content_reader reader, std::vector<content>& into,
                            std::vector<std::string>& oddities)
{
    const json::array* items = from.if_array();
    if (!items) return reader(from, into.emplace_back(), oddities);
    const std::size_t count = std::min(items->size(), max_content_blocks);
    if (count < items->size()) oddities.push_back("too many content blocks: the rest is dropped");
    into.reserve(count);
    for (std::size_t i = 0; i < count; ++i) reader((*items)[i], into.emplace_back(), oddities);
}

COMCP_DECL bool read_contents(const json::object& from, resource_contents& into)
{
    const auto text = string_member(from, "text");
    const auto blob = string_member(from, "blob");
    if (!text && !blob) return false;
    into.uri = text_member(from, "uri");
    into.mime_type = text_member(from, "mimeType");
    if (text) into.text.emplace(*text);
    else into.blob.emplace(*blob);
    into.extra = unknown_members(from, {"uri", "mimeType", "text", "blob"});
    return true;
}

/// Reads the block itself; false, and nothing changed, when it lacks what its type requires.
inline bool read_block(const json::object& from, std::string_view type, content::block_type& into,
                       std::vector<std::string>& oddities)
{
    if (type == "text") {
        const auto text = string_member(from, "text");
        if (text) into = text_content{std::string(*text)};
        return text.has_value();
    }
    if (type == "image" || type == "audio") {
        const auto data = string_member(from, "data");
        if (!data) return false;
        std::string mime_type = text_member(from, "mimeType");
        if (mime_type.empty()) oddities.push_back(std::string(type) + " block without a mimeType");
        if (type == "image") {
            into = image_content{std::string(*data), std::move(mime_type)};
        } else {
            into = audio_content{std::string(*data), std::move(mime_type)};
        }
        return true;
    }
    if (type == "resource_link") {
        const auto uri = string_member(from, "uri");
        if (!uri) return false;
        auto& link = into.emplace<resource_link>();
        link.uri = *uri;
        link.name = text_member(from, "name");
        link.title = text_member(from, "title");
        link.description = text_member(from, "description");
        link.mime_type = text_member(from, "mimeType");
        link.size = integer_member(from, "size");
        link.icons = read_icons(from);
        return true;
    }
    if (type == "resource") {
        const json::object* inner = object_member(from, "resource");
        if (!inner) return false;
        resource_contents read;
        if (!read_contents(*inner, read)) return false;
        into = std::move(read);
        return true;
    }
    return false;
}

/// The same for the blocks that sampling alone has.
inline bool read_sampling_block(const json::object& from, std::string_view type, content::block_type& into,
                                std::vector<std::string>& oddities)
{
    if (type == "tool_use") {
        const auto id = string_member(from, "id");
        const auto name = string_member(from, "name");
        if (!id || !name) return false;
        into = tool_use_content{std::string(*id), std::string(*name), owned_object_member(from, "input")};
        return true;
    }
    if (type == "tool_result") {
        const auto id = string_member(from, "toolUseId");
        if (!id) return false;
        tool_result_content read;
        read.tool_use_id = *id;
        if (const json::value* blocks = member(from, "content")) {
            read_blocks(*blocks, &read_content, read.content, oddities);
        }
        if (const json::value* structured = from.if_contains("structuredContent")) read.structured = owned(*structured);
        read.is_error = bool_member(from, "isError").value_or(false);
        into = std::move(read);
        return true;
    }
    return read_block(from, type, into, oddities);
}

/// Members that belong to the kind of block and must not be kept a second time.
inline json::object unknown_block_members(const json::object& from, std::string_view type)
{
    if (type == "text") return unknown_members(from, {"type", "text", "annotations", "_meta"});
    if (type == "resource") return unknown_members(from, {"type", "resource", "annotations", "_meta"});
    if (type == "resource_link") {
        return unknown_members(
            from, {"type", "uri", "name", "title", "description", "mimeType", "size", "icons", "annotations", "_meta"});
    }
    if (type == "tool_use") return unknown_members(from, {"type", "id", "name", "input", "annotations", "_meta"});
    if (type == "tool_result") {
        return unknown_members(
            from, {"type", "toolUseId", "content", "structuredContent", "isError", "annotations", "_meta"});
    }
    return unknown_members(from, {"type", "data", "mimeType", "annotations", "_meta"});
}

using block_reader = bool (*)(const json::object& from, std::string_view type, content::block_type& into,
                              std::vector<std::string>& oddities);

inline void read_any_content(const json::value& from, block_reader reader, content& into,
                             std::vector<std::string>& oddities)
{
    const json::object* object = from.if_object();
    const std::string_view type = object ? string_member(*object, "type").value_or(std::string_view()) : "";
    if (object && reader(*object, type, into.block, oddities)) {
        if (type == "text" && object->size() == 2) return; // the usual block has nothing more
        into.annotations = read_annotations(*object);
        into.meta = owned_object_member(*object, "_meta");
        into.extra = unknown_block_members(*object, type);
    } else if (const json::string* text = from.if_string()) {
        oddities.push_back("content block is a plain string");
        into.block = text_content{std::string(text->data(), text->size())};
    } else {
        oddities.push_back(!object        ? "content block is not an object"
                           : type.empty() ? "content block without a type"
                                          : "unknown or malformed content block of type " +
                                                std::string(first_code_points(type, 40)));
        into.block = unknown_content{owned(from)};
    }
}

} // namespace detail

COMCP_DECL void read_content(const json::value& from, content& into, std::vector<std::string>& oddities)
{
    detail::read_any_content(from, &detail::read_block, into, oddities);
}

COMCP_DECL void read_sampling_content(const json::value& from, content& into, std::vector<std::string>& oddities)
{
    detail::read_any_content(from, &detail::read_sampling_block, into, oddities);
}

} // namespace comcp::inline COMCP_ABI
