// SPDX-License-Identifier: MIT
//
// Reads one JSON text and says which JSON-RPC message it is, or what is wrong with it. It knows the envelope only:
// not methods, not who is waiting for an id, not sessions. No text of a peer makes it fail in another way than by the
// `parsed` that it returns.
#pragma once

#include <comcp/config.hpp>
#include <comcp/json/source.hpp>
#include <comcp/json/value.hpp>
#include <comcp/limits.hpp>
#include <comcp/result.hpp>
#include <comcp/rpc/id.hpp>
#include <comcp/rpc/message.hpp>

#include <boost/json/array.hpp>
#include <boost/json/monotonic_resource.hpp>
#include <boost/json/object.hpp>
#include <boost/json/storage_ptr.hpp>
#include <boost/json/value.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace comcp::inline COMCP_ABI::rpc
{

namespace detail
{

/// The members of an envelope, null taken as absent where it can be (SHAPE 47).
struct envelope
{
    const json::value* jsonrpc = nullptr;
    const json::value* id = nullptr; // null is kept: a request must not have it (A-2)
    const json::value* method = nullptr;
    const json::value* params = nullptr;
    const json::value* result = nullptr;
    const json::value* error = nullptr;
    bool has_outcome = false; // a result or an error, be it null

    // One pass over the members instead of six look-ups.
    explicit envelope(const json::object& object)
    {
        for (const auto& member : object) {
            const std::string_view key(member.key().data(), member.key().size());
            const json::value* const value = &member.value();
            const json::value* const real = value->is_null() ? nullptr : value;
            if (key == "jsonrpc") {
                jsonrpc = real;
            } else if (key == "id") {
                id = value;
            } else if (key == "method") {
                method = real;
            } else if (key == "params") {
                params = real;
            } else if (key == "result") {
                result = real;
                has_outcome = true;
            } else if (key == "error") {
                error = real;
                has_outcome = true;
            }
        }
    }
};

/// The id or token that a value is. `source()` gives its text: what fits no integer type was rounded to a double.
template <class Source>
std::optional<rpc::id> read_id(const json::value* value, Source source)
{
    if (!value) return std::nullopt;
    switch (value->kind()) {
    case json::kind::string:
        return rpc::id::string(std::string(value->get_string().data(), value->get_string().size()));
    case json::kind::int64: return rpc::id(value->get_int64());
    case json::kind::uint64: return rpc::id(value->get_uint64());
    case json::kind::double_: {
        const std::optional<std::string_view> digits = source();
        return digits ? rpc::id::from_number(*digits) : std::nullopt;
    }
    default: return std::nullopt;
    }
}

inline bool is_error_object(const json::value& value)
{
    const json::object* const error = value.if_object();
    return error && integer_member(*error, "code") && string_member(*error, "message");
}

/// Judges one value that should be a message. Fills everything but the batch.
inline void read_message(const json::value& root, std::string_view text, parsed& out)
{
    message& msg = out.msg;
    const auto invalid = [&](std::string_view why) {
        out.state = parsed::status::invalid;
        out.why = why;
        if (msg.has_id) {
            out.id_known = true;
            out.id = msg.id;
        }
    };

    msg.text = text;
    if (!root.is_object()) return invalid("not an object");
    const envelope in(root.get_object());
    if (std::optional<rpc::id> id = read_id(in.id, [text] { return member_source(text, "id"); })) {
        msg.has_id = true;
        msg.id = *std::move(id);
    }
    out.has_jsonrpc = in.jsonrpc && in.jsonrpc->is_string() && in.jsonrpc->get_string() == "2.0";
    out.has_method = in.method != nullptr;
    out.is_answer = in.has_outcome && !in.method;
    if (!out.has_jsonrpc) return invalid("\"jsonrpc\" is not \"2.0\"");

    out.state = parsed::status::message;
    if (in.method) {
        if (!in.method->is_string()) return invalid("\"method\" is not a string");
        if (in.result || in.error) return invalid("a method together with a result or an error");
        // A present id makes a request, so a bad one makes a bad request and never a notification.
        if (in.id && !msg.has_id) return invalid("\"id\" is not a string or an integer");
        msg.type = in.id ? message::kind::request : message::kind::notification;
        msg.method = std::string_view(in.method->get_string().data(), in.method->get_string().size());
        if (in.params) {
            msg.params = in.params->if_object();
            msg.bad_params = msg.params == nullptr;
        }
        return;
    }

    if (in.result && in.error) return invalid("both a result and an error");
    if (in.result) {
        if (!in.result->is_object()) return invalid("\"result\" is not an object");
        if (!msg.has_id) return invalid("a result without a valid id");
        msg.type = message::kind::result;
        msg.result = &in.result->get_object();
        return;
    }
    if (!in.error) return invalid("no method, result or error");
    if (!is_error_object(*in.error)) return invalid("\"error\" is not an object with a code and a message");
    // 2025-11-25, base protocol: the id of an error may be absent; JSON-RPC 2.0 writes null.
    if (in.id && !msg.has_id && !in.id->is_null()) return invalid("\"id\" is not a string or an integer");
    msg.type = message::kind::error;
    msg.error = &in.error->get_object();
}

/// A message as many peers write it, cut into its parts: {"jsonrpc":"2.0","id":7,"result":BODY} or
/// {"jsonrpc":"2.0","id":7,"method":"ping","params":BODY}.
struct usual_form
{
    std::string_view id;
    std::string_view method; // empty: a result
    std::string_view body;   // not looked at
};

/// Empty for any other spelling, which says nothing about the message. When the body is one JSON value, the whole is
/// one too: an object of exactly these members.
inline std::optional<usual_form> usual_form_of(std::string_view text) noexcept
{
    const auto take = [&text](std::string_view expected) {
        const bool there = text.starts_with(expected);
        if (there) text.remove_prefix(expected.size());
        return there;
    };
    const auto take_while = [&text](auto wanted) {
        std::size_t size = 0;
        while (size < text.size() && wanted(text[size])) ++size;
        const std::string_view taken = text.substr(0, size);
        text.remove_prefix(size);
        return taken;
    };

    usual_form form;
    if (!take(R"({"jsonrpc":"2.0","id":)")) return std::nullopt;
    form.id = take_while([](char c) { return c >= '0' && c <= '9'; });
    if (form.id.empty() || form.id.size() > 15 || (form.id.size() > 1 && form.id.front() == '0')) return std::nullopt;
    if (take(R"(,"method":")")) {
        form.method = take_while([](char c) { return c > ' ' && c < '\x7F' && c != '"' && c != '\\'; });
        if (form.method.empty() || !take(R"(","params":)")) return std::nullopt;
    } else if (!take(R"(,"result":)")) {
        return std::nullopt;
    }
    if (!text.ends_with('}')) return std::nullopt;
    text.remove_suffix(1);
    form.body = text;
    return form;
}

} // namespace detail

/// The error object of a message, owning its memory.
inline rpc_error read_error(const json::object& from)
{
    rpc_error out;
    out.code = integer_member(from, "code").value_or(0);
    out.message = std::string(string_member(from, "message").value_or(""));
    if (const json::value* data = member(from, "data")) out.data = json::value(*data, json::storage_ptr());
    return out;
}

/// Reads messages one after another. A small message needs no allocation.
class parser
{
public:
    /// `depth` is the limit of nesting, the outermost object being 1.
    explicit parser(std::size_t depth = limits{}.depth) : depth_(depth) {}

    parser(const parser&) = delete;
    parser& operator=(const parser&) = delete;

    /// A longer batch is invalid as a whole: what is kept of an element is far larger than the two bytes of `{}`.
    static constexpr std::size_t max_batch = 1024;

    /// Reads one text, which must stay where it is as long as the result is used: until the next parse.
    const parsed& parse(std::string_view text)
    {
        // Without the envelope there is a third less to parse. What is odd in any way is read again, as a whole.
        const std::optional<detail::usual_form> usual = detail::usual_form_of(text);
        if (usual && read_usual(text, *usual)) return parsed_;

        clear();
        result<json::value> value = parse_json(text, depth_, fresh_storage());
        if (!value) {
            fault what = value.error();
            why_ = std::move(what.text);
            parsed_.state = what.code == errc::too_deep ? parsed::status::too_deep : parsed::status::not_json;
            parsed_.why = why_;
            return parsed_;
        }
        root_.emplace(*std::move(value));
        const json::array* const batch = root_->if_array();
        if (batch && batch->size() > max_batch) {
            parsed_.state = parsed::status::invalid;
            parsed_.why = "a batch of more than 1024 messages";
        } else if (batch && !batch->empty()) {
            parsed_.state = parsed::status::batch;
            parsed_.elements.resize(batch->size());
            std::size_t at = text.find('[');
            for (std::size_t i = 0; i < batch->size(); ++i) {
                at = comcp::detail::skip_space(text, at + 1);
                const std::size_t end = skip_value(text, at);
                detail::read_message((*batch)[i], text.substr(at, end - at), parsed_.elements[i]);
                at = comcp::detail::skip_space(text, end); // the comma
            }
        } else {
            detail::read_message(*root_, text, parsed_);
        }
        return parsed_;
    }

    /// Gives back what the last text took; `parse` does so by itself. For a session that goes idle after a large one.
    void clear() noexcept
    {
        if (!parsed_.elements.empty()) parsed_.elements = {};
        parsed_.msg.has_id = parsed_.msg.bad_params = false;
        parsed_.id_known = parsed_.has_jsonrpc = parsed_.has_method = parsed_.is_answer = false;
        parsed_.msg.method = parsed_.msg.text = parsed_.why = {};
        parsed_.msg.params = parsed_.msg.result = parsed_.msg.error = nullptr;
        root_.reset();
        arena_.reset();
    }

private:
    bool read_usual(std::string_view text, const detail::usual_form& form)
    {
        clear();
        result<json::value> body = parse_json(form.body, depth_ == 0 ? 0 : depth_ - 1, fresh_storage());
        if (!body || !body->is_object()) return false;
        const json::object* const object = &root_.emplace(*std::move(body)).get_object();
        message& msg = parsed_.msg;
        msg.text = text;
        msg.has_id = true;
        msg.id.set_integer_text(form.id);
        msg.method = form.method;
        const bool is_result = form.method.empty();
        msg.type = is_result ? message::kind::result : message::kind::request;
        (is_result ? msg.result : msg.params) = object;
        parsed_.state = parsed::status::message;
        parsed_.has_jsonrpc = true;
        parsed_.has_method = !is_result;
        parsed_.is_answer = is_result;
        return true;
    }

    json::storage_ptr fresh_storage()
    {
        // A resource that is used again would double its next block whenever a message leaves the first one, for ever.
        arena_.emplace(first_block_, sizeof first_block_);
        return json::storage_ptr(std::addressof(*arena_));
    }

    std::size_t depth_;
    alignas(std::max_align_t) unsigned char first_block_[4 * 1024];
    std::optional<json::monotonic_resource> arena_;
    std::optional<json::value> root_; // declared after the arena that it lies in
    std::string why_;
    parsed parsed_;
};

} // namespace comcp::inline COMCP_ABI::rpc
