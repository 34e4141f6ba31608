// SPDX-License-Identifier: MIT
//
// The blocks that tool results and messages are made of: text, image, audio, resource link, embedded resource, and
// blocks of a kind that is not known, kept as JSON (F-12, F-13). Not for showing them (flatten.hpp), nor for which
// revision has which block (wire/).
#pragma once

#include <comcp/detail/base64.hpp>
#include <comcp/detail/utf8.hpp>
#include <comcp/protocol/icon.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace comcp::inline COMCP_ABI
{

struct text_content
{
    std::string text;
};

struct image_content
{
    std::string data; ///< base64, as it is on the wire
    std::string mime_type;
};

struct audio_content
{
    std::string data; ///< base64, as it is on the wire
    std::string mime_type;
};

/// A resource that the client may read. What is empty was not given.
struct resource_link
{
    std::string uri;
    std::string name;
    std::string title;
    std::string description;
    std::string mime_type;
    std::optional<std::int64_t> size; ///< bytes
    std::vector<icon> icons;
};

/// A resource that came along: either `text` or `blob` (base64) is set.
struct embedded_resource
{
    std::string uri;
    std::string mime_type;
    std::optional<std::string> text;
    std::optional<std::string> blob;
    json::object extra; ///< other members of the resource, `_meta` among them
};

/// A block that is not one of the above, or is malformed: its JSON.
struct unknown_content
{
    json::value raw;
};

/// For whom a block is and how much it matters.
struct content_annotations
{
    std::vector<std::string> audience; ///< "user", "assistant"
    std::optional<double> priority;    ///< 0 to 1
    std::string last_modified;         ///< ISO 8601, since 2025-06-18
    json::object extra;
};

/// One block.
class content
{
public:
    using block_type =
        std::variant<text_content, image_content, audio_content, resource_link, embedded_resource, unknown_content>;

    block_type block;
    std::optional<content_annotations> annotations;
    json::object meta;  ///< `_meta`; empty when there was none
    json::object extra; ///< members that the specification does not name

    content() = default; ///< an empty text
    explicit content(block_type value) : block(std::move(value)) {}

    static content text(std::string value) { return content(text_content{std::move(value)}); }

    /// From base64 text.
    static content image(std::string base64, std::string mime_type)
    {
        return content(image_content{std::move(base64), std::move(mime_type)});
    }
    static content audio(std::string base64, std::string mime_type)
    {
        return content(audio_content{std::move(base64), std::move(mime_type)});
    }

    /// From the bytes of a file.
    static content image_bytes(std::string_view bytes, std::string mime_type)
    {
        return image(detail::base64_encode(bytes), std::move(mime_type));
    }
    static content audio_bytes(std::string_view bytes, std::string mime_type)
    {
        return audio(detail::base64_encode(bytes), std::move(mime_type));
    }

    static content link(resource_link value) { return content(std::move(value)); }
    static content link(std::string uri, std::string name)
    {
        resource_link value;
        value.uri = std::move(uri);
        value.name = std::move(name);
        return content(std::move(value));
    }

    static content resource(embedded_resource value) { return content(std::move(value)); }
    /// An embedded text resource.
    static content resource(std::string uri, std::string text, std::string mime_type = "text/plain")
    {
        embedded_resource value;
        value.uri = std::move(uri);
        value.mime_type = std::move(mime_type);
        value.text = std::move(text);
        return content(std::move(value));
    }
    /// An embedded binary resource, from its bytes.
    static content resource_bytes(std::string uri, std::string_view bytes, std::string mime_type)
    {
        embedded_resource value;
        value.uri = std::move(uri);
        value.mime_type = std::move(mime_type);
        value.blob = detail::base64_encode(bytes);
        return content(std::move(value));
    }

    /// The block when it is of that kind, else null: `block.get_if<comcp::image_content>()`.
    template <class Block>
    const Block* get_if() const noexcept
    {
        return std::get_if<Block>(&block);
    }

    /// The text of a text block, else null.
    const std::string* as_text() const noexcept
    {
        const auto* found = get_if<text_content>();
        return found ? &found->text : nullptr;
    }
};

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

/// Reads one block into `into`, which must be fresh. Never fails: what cannot be read as a known block is kept as JSON,
/// and a sentence that says why is added to `oddities`.
inline void read_content(const json::value& from, content& into, std::vector<std::string>& oddities)
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
