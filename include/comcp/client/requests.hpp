// SPDX-License-Identifier: MIT
//
// The requests of a client as the session waits for them: how the params of each are written and its result is read.
// Not for when they are made, or made again: the operations do that (core.hpp).
#pragma once

#include <comcp/client/answer.hpp>
#include <comcp/client/call_options.hpp>
#include <comcp/client/notices.hpp>
#include <comcp/client/pages.hpp>
#include <comcp/detail/elsewhere.hpp>
#include <comcp/json/args.hpp>
#include <comcp/json/result.hpp>
#include <comcp/json/source.hpp>
#include <comcp/session/session.hpp>
#include <comcp/wire/handshake.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace comcp::inline COMCP_ABI::detail
{

/// The handshake.
class initialize_call final : public pending_call
{
public:
    initialize_call(session& in, revision newest, const client_capabilities& declared, const identity& who)
        : pending_call(in.lot(), method::initialize),
          newest_(newest),
          declared_(declared),
          who_(who)
    {}
    wire::initialize_result take() { return std::move(result_); }

private:
    void write_params(std::string& out) const override { wire::write_initialize_params(out, newest_, declared_, who_); }
    std::optional<fault> read_result(const rpc::message& answer) override
    {
        auto read = wire::read_initialize_result(*answer.result, newest_);
        if (!read) return read.error();
        result_ = std::move(*read);
        return std::nullopt;
    }

    revision newest_;
    const client_capabilities& declared_;
    const identity& who_;
    wire::initialize_result result_;
};

/// One page of a list.
template <class Item>
class page_call final : public pending_call
{
public:
    page_call(session& in, page_collector<Item>& pages)
        : pending_call(in.lot(), list_traits<Item>::method),
          pages_(pages)
    {}

private:
    void write_params(std::string& out) const override
    {
        out += '{';
        if (pages_.next()) write_string(out += R"("cursor":)", *pages_.next());
        out += '}';
    }
    std::optional<fault> read_result(const rpc::message& answer) override
    {
        return pages_.add(*answer.result, answer.text.size());
    }

    page_collector<Item>& pages_;
};

/// A request with the options of its call: progress and `_meta`. What it is given lives in the caller's frame.
class optioned_call : public pending_call
{
protected:
    optioned_call(session& in, std::string_view method, notice_pump& notices, const call_options& options,
                  bool wants_token, bool keep_source)
        : pending_call(in.lot(), method),
          session_(in),
          notices_(notices),
          options_(options),
          wants_token_(wants_token),
          keep_source_(keep_source)
    {
        if (options.progress_handler()) progress_ = std::make_shared<progress_state>(options.progress_handler());
    }
    ~optioned_call() override
    {
        if (progress_) notices_.forget(*progress_);
    }

    const session& owner() const { return session_; }
    /// What progress of the call is told by: its id, where progress is wanted.
    std::optional<progress_token> token() const
    {
        if (!wants_token_) return std::nullopt;
        return progress_token(id());
    }
    wire::request_meta meta(const std::optional<progress_token>& token) const
    {
        return {token ? &*token : nullptr, options_.meta().empty() ? nullptr : &options_.meta()};
    }
    /// The text of the result, when it is to be kept.
    std::string_view source(const rpc::message& answer) const
    {
        if (!keep_source_) return {};
        return member_source(answer.text, "result").value_or("");
    }

private:
    void on_progress(const progress& notice) override
    {
        if (progress_) notices_.progressed(session_, progress_, notice);
    }

    session& session_;
    notice_pump& notices_;
    const call_options& options_;
    bool wants_token_;
    bool keep_source_;
    std::shared_ptr<progress_state> progress_;
};

/// One tools/call.
class tool_request final : public optioned_call
{
public:
    tool_request(session& in, notice_pump& notices, std::string_view tool, const args& arguments,
                 const call_options& options, bool wants_token, bool keep_source, const any_output_cap& cap)
        : optioned_call(in, method::tools_call, notices, options, wants_token, keep_source),
          tool_(tool),
          arguments_(arguments),
          result_(cap)
    {}
    answer&& take() { return std::move(result_); }

private:
    void write_params(std::string& out) const override
    {
        const auto progress = token();
        owner().codec().write_call_params(out, tool_, arguments_.text(), meta(progress), owner().spoken());
    }
    std::optional<fault> read_result(const rpc::message& answer) override
    {
        read_tool_result(*answer.result, source(answer), result_);
        return std::nullopt;
    }

    std::string_view tool_;
    const args& arguments_;
    comcp::answer result_;
};

// ---- what is asked once and answered once: how it is called, written and read --------------------------------------

/// resources/read.
class read_question
{
public:
    using result = resource_result;

    explicit read_question(std::string uri) : uri_(std::move(uri)) {}
    std::string_view method() const { return method::resources_read; }
    void write(std::string& out, const session& in, const wire::request_meta& meta) const
    {
        in.codec().write_uri_params(out, uri_, meta, in.spoken());
    }
    static resource_result read(const json::object& from, std::string_view source)
    {
        return read_resource_result(from, source);
    }

private:
    std::string uri_;
};

/// The result of a request that is only acknowledged.
struct done
{};

/// resources/subscribe and resources/unsubscribe.
class subscription_question
{
public:
    using result = done;

    subscription_question(std::string_view what, std::string uri) : method_(what), uri_(std::move(uri)) {}
    std::string_view method() const { return method_; }
    void write(std::string& out, const session& in, const wire::request_meta& meta) const
    {
        in.codec().write_uri_params(out, uri_, meta, in.spoken());
    }
    static done read(const json::object&, std::string_view) { return {}; }

private:
    std::string_view method_;
    std::string uri_;
};

/// prompts/get.
class prompt_question
{
public:
    using result = prompt_result;

    prompt_question(std::string name, args arguments) : name_(std::move(name)), arguments_(std::move(arguments)) {}
    std::string_view method() const { return method::prompts_get; }
    void write(std::string& out, const session& in, const wire::request_meta& meta) const
    {
        in.codec().write_prompt_params(out, name_, arguments_.text(), meta, in.spoken());
    }
    static prompt_result read(const json::object& from, std::string_view source)
    {
        return read_prompt_result(from, source);
    }

private:
    std::string name_;
    args arguments_;
};

/// completion/complete. Its request has its `_meta` itself.
class completion_question
{
public:
    using result = completion;

    explicit completion_question(completion_request what) : request_(std::move(what)) {}
    std::string_view method() const { return method::completion_complete; }
    void write(std::string& out, const session& in, const wire::request_meta& meta) const
    {
        in.codec().write_completion_params(out, request_, meta.token, in.spoken());
    }
    static completion read(const json::object& from, std::string_view) { return read_completion(from); }

private:
    completion_request request_;
};

/// logging/setLevel.
class level_question
{
public:
    using result = done;

    explicit level_question(log_level least) : level_(least) {}
    std::string_view method() const { return method::logging_set_level; }
    void write(std::string& out, const session&, const wire::request_meta&) const
    {
        ((out += R"({"level":")") += to_string(level_)) += R"("})";
    }
    static done read(const json::object&, std::string_view) { return {}; }

private:
    log_level level_;
};

/// Any other method: params as text, the result as JSON.
class raw_question
{
public:
    using result = json_result;

    raw_question(std::string what, raw_json params) : method_(std::move(what)), params_(std::move(params)) {}
    std::string_view method() const { return method_; }
    void write(std::string& out, const session&, const wire::request_meta&) const
    {
        out += params_.text().empty() ? std::string_view("{}") : std::string_view(params_.text());
    }
    static json_result read(const json::object& from, std::string_view source)
    {
        json_result made;
        made.value = json::object(from, json::storage_ptr());
        made.source = source;
        return made;
    }

private:
    std::string method_;
    raw_json params_;
};

/// One of these while it waits for its answer.
template <class Question>
class question_call final : public optioned_call
{
public:
    question_call(session& in, notice_pump& notices, const Question& what, const call_options& options,
                  bool wants_token, bool keep_source)
        : optioned_call(in, what.method(), notices, options, wants_token, keep_source),
          question_(what)
    {}
    typename Question::result&& take() { return std::move(result_); }

private:
    void write_params(std::string& out) const override
    {
        const auto progress = token();
        question_.write(out, owner(), meta(progress));
    }
    std::optional<fault> read_result(const rpc::message& answer) override
    {
        result_ = Question::read(*answer.result, source(answer));
        return std::nullopt;
    }

    const Question& question_;
    typename Question::result result_{};
};

/// Awaits an operation where the session lives; before there is one, there is no other place to be.
template <class T>
task<T> at_home(const std::shared_ptr<session>& lives, task<T> operation)
{
    if (!lives || !lives->executor()) return operation;
    return on_executor(lives->executor(), std::move(operation));
}

} // namespace comcp::inline COMCP_ABI::detail
