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
{} // namespace detail

/// Reads one block into `into`, which must be fresh. Never fails: what cannot be read as a known block is kept as JSON,
/// and a sentence that says why is added to `oddities`.
void read_content(const json::value& from, content& into, std::vector<std::string>& oddities);

} // namespace comcp::inline COMCP_ABI

#if !defined(COMCP_SEPARATE)
#include <comcp/protocol/impl/content.ipp>
#endif
