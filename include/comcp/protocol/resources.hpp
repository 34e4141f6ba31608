// SPDX-License-Identifier: MIT
//
// Resources, templates of resources, and what reading one gives, as every revision means them. Readers take what is in
// the field: a bad item is a fault of that item alone. Not for matching URIs (uri_template.hpp), nor for how a revision
// writes them (wire/).
#pragma once

#include <comcp/protocol/content.hpp>
#include <comcp/result.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace comcp::inline COMCP_ABI
{

/// A resource as a server offers it. What is empty was not given.
class resource
{
public:
    std::string uri;
    std::string name;
    std::string title; ///< for people, since 2025-06-18
    std::string description;
    std::string mime_type;
    std::optional<content_annotations> annotations;
    std::optional<std::int64_t> size; ///< bytes, before any encoding
    std::vector<icon> icons;          ///< since 2025-11-25
    json::object meta;                ///< `_meta`
    json::object extra;               ///< members that the specification does not name

    resource() = default;
    resource(std::string where, std::string shown) : uri(std::move(where)), name(std::move(shown)) {}

    /// What a person should see.
    const std::string& display_name() const noexcept { return !title.empty() ? title : !name.empty() ? name : uri; }
};

/// Many resources at once: their URIs follow a template of RFC 6570. What is empty was not given.
class resource_template
{
public:
    std::string uri_template;
    std::string name;
    std::string title; ///< for people, since 2025-06-18
    std::string description;
    std::string mime_type; ///< when all of them have the same
    std::optional<content_annotations> annotations;
    std::vector<icon> icons; ///< since 2025-11-25
    json::object meta;       ///< `_meta`
    json::object extra;      ///< members that the specification does not name

    resource_template() = default;
    resource_template(std::string pattern, std::string shown) : uri_template(std::move(pattern)), name(std::move(shown))
    {}

    /// What a person should see.
    const std::string& display_name() const noexcept
    {
        return !title.empty() ? title : !name.empty() ? name : uri_template;
    }
};

/// Reads one item of a list. A fault means that it cannot be read: it is no object, or has no URI. A missing name reads
/// as empty.
result<resource> read_resource(const json::value& from);
result<resource_template> read_resource_template(const json::value& from);

/// What resources/read gave: one or more contents, several for a directory.
class resource_result
{
public:
    std::vector<resource_contents> contents;
    json::object meta;  ///< `_meta`
    json::object extra; ///< members that the specification does not name
    /// What was malformed, one sentence each; empty for a sound result.
    std::vector<std::string> oddities;
    /// The whole result as it was received, when it was kept.
    std::string source;

    resource_result() = default;
    explicit resource_result(resource_contents only) { contents.push_back(std::move(only)); }

    static resource_result text(std::string uri, std::string body, std::string mime_type = "text/plain")
    {
        return resource_result(resource_contents::of_text(std::move(uri), std::move(body), std::move(mime_type)));
    }
    static resource_result bytes(std::string uri, std::string_view body,
                                 std::string mime_type = "application/octet-stream")
    {
        return resource_result(resource_contents::of_bytes(std::move(uri), body, std::move(mime_type)));
    }
};

/// Reads a result of resources/read. Never fails: contents without text and blob are left out, which `oddities` tells,
/// and so are those beyond `max_content_blocks`. Give `source`, the text of the same object, to keep it.
resource_result read_resource_result(const json::object& from, std::string_view source = {});

} // namespace comcp::inline COMCP_ABI

#if !defined(COMCP_SEPARATE)
#include <comcp/protocol/impl/resources.ipp>
#endif
