// SPDX-License-Identifier: MIT
//
// Blocks and contents in the legacy era, and what items of lists share: see wire/legacy.hpp.
#pragma once

#include <comcp/json/write.hpp>
#include <comcp/protocol/flatten.hpp>
#include <comcp/wire/codec.hpp>
#include <comcp/wire/handshake.hpp>

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace comcp::inline COMCP_ABI::wire::detail
{

// As in json/write.hpp, what appends is false when a number was not finite: then there is null in its place.

/// Appends a number without a needless fraction: 50, not 50.0.
inline bool write_number(std::string& out, double value)
{
    constexpr double exact = 9007199254740992.0; // 2^53
    if (value == std::trunc(value) && value > -exact && value < exact) {
        write_integer(out, static_cast<std::int64_t>(value));
        return true;
    }
    return write_double(out, value);
}

inline bool write_annotations(std::string& out, const content_annotations& from, revision at)
{
    bool finite = true;
    std::string members;
    if (!from.audience.empty()) write_json(members += R"(,"audience":)", from.audience);
    if (from.priority) finite = write_number(members += R"(,"priority":)", *from.priority);
    if (at >= revision::r2025_06_18 && !from.last_modified.empty()) {
        write_string(members += R"(,"lastModified":)", from.last_modified);
    }
    finite = write_kept(members, from.extra) && finite;
    if (members.empty()) return true;
    members.front() = '{';
    ((out += R"(,"annotations":)") += members) += '}';
    return finite;
}

/// Members that most items of lists have.
template <class Item>
bool write_item_facts(std::string& out, const Item& item, revision at)
{
    if (!item.description.empty()) write_string(out += R"(,"description":)", item.description);
    if (!item.mime_type.empty()) write_string(out += R"(,"mimeType":)", item.mime_type);
    return !item.annotations || write_annotations(out, *item.annotations, at);
}

/// What newer revisions gave most items of lists.
template <class Item>
bool write_item_end(std::string& out, const Item& item, revision at)
{
    bool finite = true;
    if (at >= revision::r2025_11_25 && !item.icons.empty()) finite = write_icons(out += R"(,"icons":)", item.icons);
    if (at >= revision::r2025_06_18 && !item.meta.empty())
        finite = write_value(out += R"(,"_meta":)", item.meta) && finite;
    finite = write_kept(out, item.extra) && finite;
    out += '}';
    return finite;
}

inline bool write_contents(std::string& out, const resource_contents& from, revision at)
{
    write_string(out += R"({"uri":)", from.uri);
    if (!from.mime_type.empty()) write_string(out += R"(,"mimeType":)", from.mime_type);
    if (from.blob && !from.text) write_string(out += R"(,"blob":)", *from.blob);
    else write_string(out += R"(,"text":)", from.text ? std::string_view(*from.text) : "");
    const bool finite = write_kept(out, from.extra, at >= revision::r2025_06_18 ? "" : "_meta");
    out += '}';
    return finite;
}

inline bool write_tool_annotations(std::string& out, const tool_annotations& from)
{
    std::string members;
    const auto hint = [&members](std::string_view name, const std::optional<bool>& value) {
        if (value) write_bool(((members += ",\"") += name) += "\":", *value);
    };
    if (!from.title.empty()) write_string(members += R"(,"title":)", from.title);
    hint("readOnlyHint", from.read_only_hint);
    hint("destructiveHint", from.destructive_hint);
    hint("idempotentHint", from.idempotent_hint);
    hint("openWorldHint", from.open_world_hint);
    const bool finite = write_kept(members, from.extra);
    members.front() = '{';
    ((out += R"(,"annotations":)") += members) += '}';
    return finite;
}

/// Appends the part of a block that its kind has; false when the revision lacks the kind, or it cannot be sent.
struct block_writer
{
    std::string& out;
    revision at;
    bool& finite;

    bool operator()(const text_content& b) const
    {
        write_string(out += R"({"type":"text","text":)", b.text);
        return true;
    }
    bool operator()(const image_content& b) const { return media("image", b.data, b.mime_type); }
    bool operator()(const audio_content& b) const
    {
        return at >= revision::r2025_03_26 && media("audio", b.data, b.mime_type);
    }
    bool operator()(const resource_link& b) const
    {
        if (at < revision::r2025_06_18) return false;
        write_string(out += R"({"type":"resource_link","uri":)", b.uri);
        write_string(out += R"(,"name":)", b.name.empty() ? b.uri : b.name); // required
        if (!b.title.empty()) write_string(out += R"(,"title":)", b.title);
        if (!b.description.empty()) write_string(out += R"(,"description":)", b.description);
        if (!b.mime_type.empty()) write_string(out += R"(,"mimeType":)", b.mime_type);
        if (b.size) write_integer(out += R"(,"size":)", *b.size);
        if (at >= revision::r2025_11_25 && !b.icons.empty()) finite = write_icons(out += R"(,"icons":)", b.icons);
        return true;
    }
    bool operator()(const embedded_resource& b) const
    {
        finite = write_contents(out += R"({"type":"resource","resource":)", b, at);
        return true;
    }
    // The two of sampling have no place here.
    bool operator()(const tool_use_content&) const { return false; }
    bool operator()(const tool_result_content&) const { return false; }
    bool operator()(const unknown_content&) const { return false; }

private:
    bool media(std::string_view type, std::string_view data, std::string_view mime_type) const
    {
        ((out += R"({"type":")") += type) += R"(","data":)";
        write_string(out, data);
        write_string(out += R"(,"mimeType":)", mime_type);
        return true;
    }
};

/// What every block may have.
inline bool write_block_end(std::string& out, const content& block, revision at)
{
    bool finite = !block.annotations || write_annotations(out, *block.annotations, at);
    if (at >= revision::r2025_06_18 && !block.meta.empty())
        finite = write_value(out += R"(,"_meta":)", block.meta) && finite;
    finite = write_kept(out, block.extra) && finite;
    out += '}';
    return finite;
}

inline bool write_block(std::string& out, const content& block, revision at)
{
    bool finite = true;
    if (!std::visit(block_writer{out, at, finite}, block.block)) {
        const auto* unknown = block.get_if<unknown_content>();
        if (unknown && unknown->raw.is_object()) return write_value(out, unknown->raw);
        write_string(out += R"({"type":"text","text":)", comcp::detail::block_text(block));
    }
    return write_block_end(out, block, at) && finite;
}

/// Appends an array; `write` appends one item.
template <class Items, class Write>
bool write_array(std::string& out, const Items& items, const Write& write)
{
    bool finite = true;
    char before = '[';
    for (const auto& each : items) {
        out += before;
        before = ',';
        finite = write(each) && finite;
    }
    out += before == '[' ? "[]" : "]";
    return finite;
}

} // namespace comcp::inline COMCP_ABI::wire::detail
