// SPDX-License-Identifier: MIT
//
// The blocks that tool results and messages are made of: text, image, audio, resource link, embedded resource, the two
// of sampling (tool use and tool result), and blocks of a kind that is not known, kept as JSON (F-12, F-13). Not for
// showing them (flatten.hpp), nor for which revision has which block (wire/).
#pragma once

#include <comcp/detail/base64.hpp>
#include <comcp/detail/utf8.hpp>
#include <comcp/protocol/icon.hpp>

#include <cstddef>
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

/// What a resource holds: either `text` or `blob` (base64) is set. Reading a resource gives some of them, and as a
/// block of content a resource comes along as one.
struct resource_contents
{
    std::string uri;
    std::string mime_type; ///< empty when it was not given
    std::optional<std::string> text;
    std::optional<std::string> blob;
    json::object extra; ///< other members, `_meta` among them

    resource_contents() = default;

    static resource_contents of_text(std::string uri, std::string text, std::string mime_type = "text/plain")
    {
        resource_contents made;
        made.uri = std::move(uri);
        made.mime_type = std::move(mime_type);
        made.text = std::move(text);
        return made;
    }

    /// From the bytes of a file.
    static resource_contents of_bytes(std::string uri, std::string_view bytes,
                                      std::string mime_type = "application/octet-stream")
    {
        resource_contents made;
        made.uri = std::move(uri);
        made.mime_type = std::move(mime_type);
        made.blob = detail::base64_encode(bytes);
        return made;
    }

    /// The text, or the bytes of the blob; nothing when the blob is not strict base64 or there is neither.
    std::optional<std::string> bytes() const
    {
        if (text) return text;
        return blob ? detail::base64_decode(*blob) : std::nullopt;
    }
};

using embedded_resource = resource_contents;

class content;

/// A model wants to use a tool (sampling since 2025-11-25).
struct tool_use_content
{
    std::string id; ///< the result names it
    std::string name;
    json::object input;
};

/// What that tool gave (sampling since 2025-11-25).
struct tool_result_content
{
    std::string tool_use_id;
    std::vector<comcp::content> content;
    std::optional<json::value> structured; ///< `structuredContent`
    bool is_error = false;
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
    using block_type = std::variant<text_content, image_content, audio_content, resource_link, embedded_resource,
                                    tool_use_content, tool_result_content, unknown_content>;

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
        return content(resource_contents::of_text(std::move(uri), std::move(text), std::move(mime_type)));
    }
    /// An embedded binary resource, from its bytes.
    static content resource_bytes(std::string uri, std::string_view bytes, std::string mime_type)
    {
        return content(resource_contents::of_bytes(std::move(uri), bytes, std::move(mime_type)));
    }

    /// For sampling alone.
    static content tool_use(std::string id, std::string name, json::object input)
    {
        return content(tool_use_content{std::move(id), std::move(name), std::move(input)});
    }
    static content tool_result(std::string tool_use_id, std::vector<content> blocks, bool is_error = false)
    {
        return content(tool_result_content{std::move(tool_use_id), std::move(blocks), std::nullopt, is_error});
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

/// Further blocks of one array are dropped: a block of three bytes on the wire takes some hundred in memory.
inline constexpr std::size_t max_content_blocks = 10'000;

/// Reads one block into `into`, which must be fresh. Never fails: what cannot be read as a known block is kept as JSON,
/// and a sentence that says why is added to `oddities`. The blocks of sampling are not known here.
void read_content(const json::value& from, content& into, std::vector<std::string>& oddities);

/// The same for messages of sampling: tool use and tool result are known.
void read_sampling_content(const json::value& from, content& into, std::vector<std::string>& oddities);

namespace detail
{

/// Reads the member `annotations`.
std::optional<content_annotations> read_annotations(const json::object& from);

using content_reader = void (*)(const json::value& from, content& into, std::vector<std::string>& oddities);

/// Reads an array of blocks; a single one counts as an array of it.
void read_blocks(const json::value& from, content_reader reader, std::vector<content>& into,
                 std::vector<std::string>& oddities);

/// Reads resource contents; false, and nothing changed, when there is neither text nor blob.
bool read_contents(const json::object& from, resource_contents& into);

} // namespace detail

} // namespace comcp::inline COMCP_ABI

#if !defined(COMCP_SEPARATE)
#include <comcp/protocol/impl/content.ipp>
#endif
