// SPDX-License-Identifier: MIT
//
// What is written in the legacy era: see wire/legacy.hpp.
#pragma once

#include <comcp/json/write.hpp>
#include <comcp/protocol/flatten.hpp>
#include <comcp/wire/handshake.hpp>
#include <comcp/wire/legacy.hpp>

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace comcp::inline COMCP_ABI::wire
{

namespace detail
{

/// Appends a number without a needless fraction: 50, not 50.0.
inline void write_number(std::string& out, double value)
{
    constexpr double exact = 9007199254740992.0; // 2^53
    if (value == std::trunc(value) && value > -exact && value < exact) {
        write_integer(out, static_cast<std::int64_t>(value));
    } else {
        write_double(out, value);
    }
}

/// Appends JSON text of a peer on one line. A line break in it can only stand between tokens.
inline void write_on_one_line(std::string& out, std::string_view text)
{
    for (char c : text) {
        if (c != '\n' && c != '\r') out += c;
    }
}

inline void write_annotations(std::string& out, const content_annotations& from, revision at)
{
    std::string members;
    if (!from.audience.empty()) write_json(members += R"(,"audience":)", from.audience);
    if (from.priority) write_number(members += R"(,"priority":)", *from.priority);
    if (at >= revision::r2025_06_18 && !from.last_modified.empty()) {
        write_string(members += R"(,"lastModified":)", from.last_modified);
    }
    write_kept(members, from.extra);
    if (members.empty()) return;
    members.front() = '{';
    ((out += R"(,"annotations":)") += members) += '}';
}

inline void write_tool_annotations(std::string& out, const tool_annotations& from)
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
    write_kept(members, from.extra);
    members.front() = '{';
    ((out += R"(,"annotations":)") += members) += '}';
}

/// Appends the part of a block that its kind has; false when the revision lacks the kind, or it cannot be sent.
struct block_writer
{
    std::string& out;
    revision at;

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
        if (at >= revision::r2025_11_25 && !b.icons.empty()) write_icons(out += R"(,"icons":)", b.icons);
        return true;
    }
    bool operator()(const embedded_resource& b) const
    {
        write_string(out += R"({"type":"resource","resource":{"uri":)", b.uri);
        if (!b.mime_type.empty()) write_string(out += R"(,"mimeType":)", b.mime_type);
        if (b.blob && !b.text) {
            write_string(out += R"(,"blob":)", *b.blob);
        } else {
            write_string(out += R"(,"text":)", b.text ? std::string_view(*b.text) : "");
        }
        write_kept(out, b.extra);
        out += '}';
        return true;
    }
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

class legacy final : public codec
{
public:
    const method_info* find(sender from, kind what, std::string_view name, revision at) const noexcept override
    {
        for (const method_info& row : legacy_methods) {
            if (row.name == name && row.kind == what && (row.sender == from || row.sender == sender::either) &&
                row.since <= at && at <= row.until) {
                return &row;
            }
        }
        return nullptr;
    }

    // 2025-03-26, base protocol: batches must be received. The older revision is silent and JSON-RPC has them (A-9).
    bool receives_batches(revision at) const noexcept override { return at <= revision::r2025_03_26; }
    // 2025-03-26 to 2025-11-25, transports: a disconnect must not be taken for a cancellation.
    bool close_cancels(revision) const noexcept override { return false; }
    // What was no message at all is a bad HTTP request; the errors of well-formed requests are answers like any other.
    int http_status(std::int64_t code, revision) const noexcept override
    {
        return code == rpc_code::parse_error || code == rpc_code::invalid_request ? 400 : 200;
    }
    // 2025-11-25 made the id of an error optional; before, JSON-RPC's null is what there is (A-5).
    bool null_error_id(revision at) const noexcept override { return at <= revision::r2025_06_18; }

    void write_call_params(std::string& out, std::string_view name, std::string_view arguments,
                           const progress_token* token, revision) const override
    {
        write_string(out += R"({"name":)", name);
        // Always an object: there are servers that trip over missing arguments.
        (out += R"(,"arguments":)") += arguments.empty() ? std::string_view("{}") : arguments;
        if (token) {
            token->write(out += R"(,"_meta":{"progressToken":)");
            out += '}';
        }
        out += '}';
    }

    void write_cancelled_params(std::string& out, const rpc::id& request, std::string_view reason,
                                revision) const override
    {
        request.write(out += R"({"requestId":)");
        if (!reason.empty()) write_string(out += R"(,"reason":)", reason);
        out += '}';
    }

    void write_progress_params(std::string& out, const progress_token& token, const progress& now,
                               revision at) const override
    {
        token.write(out += R"({"progressToken":)");
        write_number(out += R"(,"progress":)", now.value);
        if (now.total) write_number(out += R"(,"total":)", *now.total);
        if (at >= revision::r2025_03_26 && !now.message.empty()) write_string(out += R"(,"message":)", now.message);
        out += '}';
    }

    void write_log_params(std::string& out, const log_message& message, revision) const override
    {
        ((out += R"({"level":")") += to_string(message.level)) += '"';
        if (!message.logger.empty()) write_string(out += R"(,"logger":)", message.logger);
        write_value(out += R"(,"data":)", message.data);
        out += '}';
    }

    void write_tool(std::string& out, const tool& item, revision at) const override
    {
        const bool has_structure = at >= revision::r2025_06_18;
        write_string(out += R"({"name":)", item.name);
        if (has_structure && !item.title.empty()) write_string(out += R"(,"title":)", item.title);
        if (!item.description.empty()) write_string(out += R"(,"description":)", item.description);
        // All revisions require "type":"object" at the root (F-6).
        out += R"(,"inputSchema":)";
        if (item.input_schema.contains("type")) {
            write_value(out, item.input_schema);
        } else {
            write_kept(out += R"({"type":"object")", item.input_schema);
            out += '}';
        }
        if (has_structure && item.output_schema && is_object_schema(*item.output_schema)) {
            write_value(out += R"(,"outputSchema":)", *item.output_schema);
        }
        if (at >= revision::r2025_03_26 && !item.annotations.empty()) write_tool_annotations(out, item.annotations);
        if (at >= revision::r2025_11_25 && !item.icons.empty()) write_icons(out += R"(,"icons":)", item.icons);
        if (has_structure && !item.meta.empty()) write_value(out += R"(,"_meta":)", item.meta);
        write_kept(out, item.extra, at >= revision::r2025_11_25 ? std::string_view() : "execution");
        out += '}';
    }

    void write_content(std::string& out, const content& block, revision at) const override
    {
        if (!std::visit(block_writer{out, at}, block.block)) {
            const auto* unknown = block.get_if<unknown_content>();
            if (unknown && unknown->raw.is_object()) return write_value(out, unknown->raw);
            write_string(out += R"({"type":"text","text":)", comcp::detail::block_text(block));
        }
        if (block.annotations) write_annotations(out, *block.annotations, at);
        if (at >= revision::r2025_06_18 && !block.meta.empty()) write_value(out += R"(,"_meta":)", block.meta);
        write_kept(out, block.extra);
        out += '}';
    }

    void write_tool_result(std::string& out, const tool_result& value, revision at) const override
    {
        out += R"({"content":[)";
        bool comma = false;
        for (const content& block : value.content) {
            if (comma) out += ',';
            comma = true;
            write_content(out, block, at);
        }
        const bool has_structure = at >= revision::r2025_06_18;
        if (value.structured) {
            const std::string structured = comcp::detail::structured_text(value);
            const bool is_object = value.structured->is_object();
            // Whoever does not get the structured content as it is, or reads only text, must find it in a text (F-8).
            if (value.content.empty() ||
                ((!has_structure || !is_object) && !comcp::detail::text_repeats_structured(value))) {
                if (comma) out += ',';
                write_string(out += R"({"type":"text","text":)", structured);
                out += '}';
            }
            out += ']';
            if (has_structure) {
                // An object is required up to 2025-11-25 (F-7).
                out += is_object ? R"(,"structuredContent":)" : R"(,"structuredContent":{"result":)";
                write_on_one_line(out, structured);
                if (!is_object) out += '}';
            }
        } else {
            out += ']';
        }
        if (value.is_error) out += R"(,"isError":true)";
        if (!value.meta.empty()) write_value(out += R"(,"_meta":)", value.meta);
        out += '}';
    }

    void write_text_result(std::string& out, std::string_view text, bool is_error, revision) const override
    {
        write_string(out += R"({"content":[{"type":"text","text":)", text);
        out += is_error ? R"(}],"isError":true})" : "}]}";
    }

private:
    static bool is_object_schema(const json::object& schema)
    {
        const auto type = string_member(schema, "type");
        return type && *type == "object";
    }
};

} // namespace detail

COMCP_DECL const codec& legacy_codec() noexcept
{
    static const detail::legacy instance;
    return instance;
}

} // namespace comcp::inline COMCP_ABI::wire
