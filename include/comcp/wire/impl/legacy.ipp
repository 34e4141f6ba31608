// SPDX-License-Identifier: MIT
//
// What is written in the legacy era: see wire/legacy.hpp.
#pragma once

#include <comcp/wire/impl/legacy_content.ipp>
#include <comcp/wire/impl/legacy_requests.ipp>
#include <comcp/wire/legacy.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace comcp::inline COMCP_ABI::wire
{

namespace detail
{

/// Appends JSON text of a peer on one line. A line break in it can only stand between tokens.
inline void write_on_one_line(std::string& out, std::string_view text)
{
    for (char c : text) {
        if (c != '\n' && c != '\r') out += c;
    }
}

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

    int resource_not_found_code(revision) const noexcept override { return rpc_code::resource_not_found; }

    void write_call_params(std::string& out, std::string_view name, std::string_view arguments,
                           const request_meta& meta, revision) const override
    {
        write_string(out += R"({"name":)", name);
        // Always an object: there are servers that trip over missing arguments.
        (out += R"(,"arguments":)") += arguments.empty() ? std::string_view("{}") : arguments;
        write_meta(out, meta);
        out += '}';
    }

    void write_uri_params(std::string& out, std::string_view uri, const request_meta& meta, revision) const override
    {
        write_string(out += R"({"uri":)", uri);
        write_meta(out, meta);
        out += '}';
    }

    void write_prompt_params(std::string& out, std::string_view name, std::string_view arguments,
                             const request_meta& meta, revision) const override
    {
        write_string(out += R"({"name":)", name);
        if (!arguments.empty()) (out += R"(,"arguments":)") += arguments;
        write_meta(out, meta);
        out += '}';
    }

    void write_completion_params(std::string& out, const completion_request& request, const progress_token* token,
                                 revision at) const override
    {
        const bool prompt = request.reference.type() == completion_reference::kind::prompt;
        out += prompt ? R"({"ref":{"type":"ref/prompt","name":)" : R"({"ref":{"type":"ref/resource","uri":)";
        write_string(out, request.reference.text());
        write_kept(out, request.reference_extra, at >= revision::r2025_06_18 ? "" : "title");
        write_string(out += R"(},"argument":{"name":)", request.argument);
        write_string(out += R"(,"value":)", request.value);
        write_kept(out, request.argument_extra);
        out += '}';
        if (at >= revision::r2025_06_18 && (!request.context.empty() || !request.context_extra.empty())) {
            write_json(out += R"(,"context":{"arguments":)", request.context);
            write_kept(out, request.context_extra);
            out += '}';
        }
        write_meta(out, {token, &request.meta});
        write_kept(out, request.extra);
        out += '}';
    }

    result<void> write_sampling_params(std::string& out, const sampling_request& request, const progress_token* token,
                                       revision at) const override
    {
        return write_sampling_request(out, request, token, at);
    }

    result<void> write_elicitation_params(std::string& out, const elicitation_request& request,
                                          const progress_token* token, revision at) const override
    {
        return write_elicitation_request(out, request, token, at);
    }

    void write_elicitation_complete_params(std::string& out, std::string_view id, revision) const override
    {
        write_string(out += R"({"elicitationId":)", id);
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
        write_kept(out, now.extra);
        out += '}';
    }

    void write_log_params(std::string& out, const log_message& message, revision) const override
    {
        ((out += R"({"level":")") += to_string(message.level)) += '"';
        if (!message.logger.empty()) write_string(out += R"(,"logger":)", message.logger);
        write_value(out += R"(,"data":)", message.data);
        write_kept(out, message.extra);
        out += '}';
    }

    bool write_tool(std::string& out, const tool& item, revision at) const override
    {
        const bool has_structure = at >= revision::r2025_06_18;
        bool finite = true;
        write_string(out += R"({"name":)", item.name);
        if (has_structure && !item.title.empty()) write_string(out += R"(,"title":)", item.title);
        if (!item.description.empty()) write_string(out += R"(,"description":)", item.description);
        // All revisions require "type":"object" at the root (F-6).
        out += R"(,"inputSchema":)";
        if (item.input_schema.contains("type")) {
            finite = write_value(out, item.input_schema);
        } else {
            finite = write_kept(out += R"({"type":"object")", item.input_schema);
            out += '}';
        }
        if (has_structure && item.output_schema && is_object_schema(*item.output_schema)) {
            finite = write_value(out += R"(,"outputSchema":)", *item.output_schema) && finite;
        }
        if (at >= revision::r2025_03_26 && !item.annotations.empty())
            finite = write_tool_annotations(out, item.annotations) && finite;
        if (at >= revision::r2025_11_25 && !item.icons.empty())
            finite = write_icons(out += R"(,"icons":)", item.icons) && finite;
        if (has_structure && !item.meta.empty()) finite = write_value(out += R"(,"_meta":)", item.meta) && finite;
        finite = write_kept(out, item.extra, at >= revision::r2025_11_25 ? std::string_view() : "execution") && finite;
        out += '}';
        return finite;
    }

    bool write_content(std::string& out, const content& block, revision at) const override
    {
        return write_block(out, block, at);
    }

    bool write_tool_result(std::string& out, const tool_result& value, revision at) const override
    {
        bool finite = true;
        out += R"({"content":[)";
        bool comma = false;
        for (const content& block : value.content) {
            if (comma) out += ',';
            comma = true;
            finite = write_block(out, block, at) && finite;
        }
        const bool has_structure = at >= revision::r2025_06_18;
        if (value.structured) {
            std::string structured;
            finite = comcp::detail::write_structured(structured, value) && finite;
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
        return write_result_end(out, value) && finite;
    }

    void write_text_result(std::string& out, std::string_view text, bool is_error, revision) const override
    {
        write_string(out += R"({"content":[{"type":"text","text":)", text);
        out += is_error ? R"(}],"isError":true})" : "}]}";
    }

    bool write_resource(std::string& out, const resource& item, revision at) const override
    {
        write_string(out += R"({"uri":)", item.uri);
        write_string(out += R"(,"name":)", item.name.empty() ? item.uri : item.name); // required
        write_title(out, item.title, at);
        const bool finite = write_item_facts(out, item, at);
        if (item.size) write_integer(out += R"(,"size":)", *item.size);
        return write_item_end(out, item, at) && finite;
    }

    bool write_resource_template(std::string& out, const resource_template& item, revision at) const override
    {
        write_string(out += R"({"uriTemplate":)", item.uri_template);
        write_string(out += R"(,"name":)", item.name.empty() ? item.uri_template : item.name); // required
        write_title(out, item.title, at);
        const bool finite = write_item_facts(out, item, at);
        return write_item_end(out, item, at) && finite;
    }

    bool write_resource_contents(std::string& out, const resource_contents& item, revision at) const override
    {
        return write_contents(out, item, at);
    }

    bool write_resource_result(std::string& out, const resource_result& value, revision at) const override
    {
        out += R"({"contents":)";
        const bool finite = write_array(out, value.contents,
                                        [&](const resource_contents& each) { return write_contents(out, each, at); });
        return write_result_end(out, value) && finite;
    }

    bool write_prompt(std::string& out, const prompt& item, revision at) const override
    {
        bool finite = true;
        write_string(out += R"({"name":)", item.name);
        write_title(out, item.title, at);
        if (!item.description.empty()) write_string(out += R"(,"description":)", item.description);
        if (!item.arguments.empty()) {
            out += R"(,"arguments":)";
            finite = write_array(out, item.arguments, [&](const prompt_argument& each) {
                write_string(out += R"({"name":)", each.name);
                write_title(out, each.title, at);
                if (!each.description.empty()) write_string(out += R"(,"description":)", each.description);
                if (each.required) out += R"(,"required":true)";
                const bool kept = write_kept(out, each.extra);
                out += '}';
                return kept;
            });
        }
        return write_item_end(out, item, at) && finite;
    }

    bool write_prompt_result(std::string& out, const prompt_result& value, revision at) const override
    {
        out += '{';
        if (!value.description.empty()) {
            write_string(out += R"("description":)", value.description);
            out += ',';
        }
        out += R"("messages":)";
        const bool finite = write_array(out, value.messages, [&](const prompt_message& each) {
            ((out += R"({"role":")") += to_string(each.role)) += R"(","content":)";
            const bool block = write_block(out, each.content, at);
            const bool kept = write_kept(out, each.extra);
            out += '}';
            return block && kept;
        });
        return write_result_end(out, value) && finite;
    }

    bool write_completion(std::string& out, const completion& value, revision) const override
    {
        if (value.values.size() > max_completions) { // 2024-11-05, completion: at most 100
            completion capped = value;
            capped.cap();
            return write_completion_result(out, capped);
        }
        return write_completion_result(out, value);
    }

    bool write_roots(std::string& out, const root_list& roots, revision at) const override
    {
        out += R"({"roots":)";
        bool finite = write_array(out, roots, [&](const root& each) {
            bool meta = true;
            write_string(out += R"({"uri":)", each.uri);
            if (!each.name.empty()) write_string(out += R"(,"name":)", each.name);
            if (at >= revision::r2025_06_18 && !each.meta.empty()) meta = write_value(out += R"(,"_meta":)", each.meta);
            const bool kept = write_kept(out, each.extra);
            out += '}';
            return meta && kept;
        });
        if (!roots.meta.empty()) finite = write_value(out += R"(,"_meta":)", roots.meta) && finite;
        finite = write_kept(out, roots.extra) && finite;
        out += '}';
        return finite;
    }

    bool write_sampling_result(std::string& out, const sampling_result& value, revision at) const override
    {
        return write_sampling_answer(out, value, at);
    }

    bool write_elicitation_result(std::string& out, const elicitation_result& value, elicitation_mode asked,
                                  revision at) const override
    {
        return write_elicitation_answer(out, value, asked, at);
    }

private:
    static void write_title(std::string& out, const std::string& title, revision at)
    {
        if (at >= revision::r2025_06_18 && !title.empty()) write_string(out += R"(,"title":)", title);
    }

    template <class Result>
    static bool write_result_end(std::string& out, const Result& value)
    {
        bool finite = value.meta.empty() || write_value(out += R"(,"_meta":)", value.meta);
        finite = write_kept(out, value.extra) && finite;
        out += '}';
        return finite;
    }

    static bool write_completion_result(std::string& out, const completion& value)
    {
        write_json(out += R"({"completion":{"values":)", value.values);
        if (value.total) write_integer(out += R"(,"total":)", *value.total);
        if (value.has_more) write_bool(out += R"(,"hasMore":)", *value.has_more);
        const bool finite = write_kept(out, value.values_extra);
        out += '}';
        return write_result_end(out, value) && finite;
    }

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
