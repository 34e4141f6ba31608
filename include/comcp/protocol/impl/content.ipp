// SPDX-License-Identifier: MIT
//
// Reading content: see protocol/content.hpp.
#pragma once

#include <comcp/protocol/content.hpp>

namespace comcp::inline COMCP_ABI
{

namespace detail
{

inline std::optional<content_annotations> read_annotations(const json::object& from)
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
        const auto text = string_member(*inner, "text");
        const auto blob = string_member(*inner, "blob");
        if (!text && !blob) return false;
        auto& resource = into.emplace<embedded_resource>();
        resource.uri = text_member(*inner, "uri");
        resource.mime_type = text_member(*inner, "mimeType");
        if (text) resource.text.emplace(*text);
        if (!text) resource.blob.emplace(*blob);
        resource.extra = unknown_members(*inner, {"uri", "mimeType", "text", "blob"});
        return true;
    }
    return false;
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
    return unknown_members(from, {"type", "data", "mimeType", "annotations", "_meta"});
}

} // namespace detail

COMCP_DECL void read_content(const json::value& from, content& into, std::vector<std::string>& oddities)
{
    const json::object* object = from.if_object();
    const std::string_view type = object ? string_member(*object, "type").value_or(std::string_view()) : "";
    if (object && detail::read_block(*object, type, into.block, oddities)) {
        if (type == "text" && object->size() == 2) return; // the usual block has nothing more
        into.annotations = detail::read_annotations(*object);
        into.meta = detail::owned_object_member(*object, "_meta");
        into.extra = detail::unknown_block_members(*object, type);
    } else if (const json::string* text = from.if_string()) {
        oddities.push_back("content block is a plain string");
        into.block = text_content{std::string(text->data(), text->size())};
    } else {
        oddities.push_back(!object        ? "content block is not an object"
                           : type.empty() ? "content block without a type"
                                          : "unknown or malformed content block of type " +
                                                std::string(detail::first_code_points(type, 40)));
        into.block = unknown_content{detail::owned(from)};
    }
}

} // namespace comcp::inline COMCP_ABI
