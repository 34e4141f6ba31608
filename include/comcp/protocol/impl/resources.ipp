// SPDX-License-Identifier: MIT
//
// Reading resources: see protocol/resources.hpp.
#pragma once

#include <comcp/protocol/resources.hpp>

#include <algorithm>
#include <cstddef>

namespace comcp::inline COMCP_ABI
{

COMCP_DECL result<resource> read_resource(const json::value& from)
{
    const json::object* object = from.if_object();
    if (!object) return fail(errc::invalid_message, "a resource that is not an object");
    const auto uri = string_member(*object, "uri");
    if (!uri) return fail(errc::invalid_message, "a resource without a uri");
    resource read{std::string(*uri), detail::text_member(*object, "name")};
    read.title = detail::text_member(*object, "title");
    read.description = detail::text_member(*object, "description");
    read.mime_type = detail::text_member(*object, "mimeType");
    read.annotations = detail::read_annotations(*object);
    read.size = integer_member(*object, "size");
    read.icons = read_icons(*object);
    read.meta = detail::owned_object_member(*object, "_meta");
    read.extra = detail::unknown_members(
        *object, {"uri", "name", "title", "description", "mimeType", "annotations", "size", "icons", "_meta"});
    return read;
}

COMCP_DECL result<resource_template> read_resource_template(const json::value& from)
{
    const json::object* object = from.if_object();
    if (!object) return fail(errc::invalid_message, "a resource template that is not an object");
    const auto pattern = string_member(*object, "uriTemplate");
    if (!pattern) return fail(errc::invalid_message, "a resource template without a uriTemplate");
    resource_template read{std::string(*pattern), detail::text_member(*object, "name")};
    read.title = detail::text_member(*object, "title");
    read.description = detail::text_member(*object, "description");
    read.mime_type = detail::text_member(*object, "mimeType");
    read.annotations = detail::read_annotations(*object);
    read.icons = read_icons(*object);
    read.meta = detail::owned_object_member(*object, "_meta");
    read.extra = detail::unknown_members(
        *object, {"uriTemplate", "name", "title", "description", "mimeType", "annotations", "icons", "_meta"});
    return read;
}

COMCP_DECL resource_result read_resource_result(const json::object& from, std::string_view source)
{
    resource_result read;
    read.source = source;
    read.meta = detail::owned_object_member(from, "_meta");
    read.extra = detail::unknown_members(from, {"contents", "_meta"});
    const json::array* items = array_member(from, "contents");
    if (!items) {
        read.oddities.push_back("result without an array of contents");
        return read;
    }
    const std::size_t count = std::min(items->size(), max_content_blocks);
    if (count < items->size()) read.oddities.push_back("too many contents: the rest is dropped");
    for (std::size_t i = 0; i < count; ++i) {
        const json::object* item = (*items)[i].if_object();
        resource_contents one;
        if (!item || !detail::read_contents(*item, one)) {
            read.oddities.push_back("contents with neither text nor blob");
        } else {
            read.contents.push_back(std::move(one));
        }
    }
    return read;
}

} // namespace comcp::inline COMCP_ABI
