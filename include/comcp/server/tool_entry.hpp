// SPDX-License-Identifier: MIT
//
// A registered tool with its handler erased, and how one call runs through it. The registry owns the entry and every
// running call holds it, so a tool may be changed or removed while it runs.
#pragma once

#include <comcp/protocol/tools.hpp>
#include <comcp/server/context.hpp>
#include <comcp/task.hpp>
#include <comcp/wire/codec.hpp>

#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace comcp::inline COMCP_ABI
{

/// Thrown by a handler whose failure the model should read: the text becomes an `isError` result. Any other exception
/// becomes one with a fixed text, since its own may hold what is not meant for a model.
class tool_error : public std::runtime_error
{
public:
    using std::runtime_error::runtime_error;
};

namespace detail
{

/// Where the result of one call goes. A few pointers, usable on the handler's executor.
class reply
{
public:
    reply(const wire::codec& codec, revision at, session& owner, const rpc::id* id, const answer_route* route)
        : codec_(&codec),
          at_(at),
          owner_(&owner),
          id_(id),
          route_(route)
    {}
    /// `ctx` stands in the frame that the reply stands in.
    reply(const wire::codec& codec, const context& ctx) : codec_(&codec), at_(ctx.version()), context_(&ctx) {}

    const wire::codec& codec() const { return *codec_; }
    revision at() const { return at_; }

    /// `write(std::string&)` appends the result object.
    template <class Write>
    void send(Write&& write, bool elsewhere = false) const
    {
        if (owner_) return owner_->answer(*id_, *route_, write);
        if (!elsewhere) {
            if (session* owner = context_->request()->owner()) owner->answer(*context_->request(), write);
            return;
        }
        std::string text;
        write(text);
        context_->on_session([request = context_->request(), text = std::move(text)](session& owner) {
            owner.answer(*request, [&](std::string& out) { out += text; });
        });
    }

    void send_error_text(std::string_view text, bool elsewhere = false) const
    {
        send([&](std::string& out) { codec_->write_text_result(out, text, true, at_); }, elsewhere);
    }

    /// The current exception as a result. A cancelled call has nobody to tell: its answer is dropped on the way.
    void send_exception(bool elsewhere = false) const
    {
        try {
            throw;
        } catch (const tool_error& failure) {
            send_error_text(failure.what(), elsewhere);
        } catch (...) {
            send_error_text("the tool failed", elsewhere);
        }
    }

private:
    const wire::codec* codec_;
    revision at_;
    session* owner_ = nullptr; // answered in the reader's turn, without an admitted request
    const rpc::id* id_ = nullptr;
    const answer_route* route_ = nullptr;
    const context* context_ = nullptr;
};

/// One tools/call on its way into a handler. Everything it points at ends with the reader's turn.
struct tool_call
{
    std::shared_ptr<session> owner;
    const std::shared_ptr<const handler_environment>& environment;
    const rpc::message& request;
    const answer_route& route;
    const json::value& arguments;     // an object
    std::string_view arguments_text;  // where sources are kept, else empty
    const comcp::executor& elsewhere; // the host's executor for handlers; empty: none

    reply now() const { return reply(owner->codec(), owner->spoken(), *owner, &request.id, &route); }

    /// Takes the request in for a handler that answers later; null when it was refused.
    std::shared_ptr<inbound> admit() const;

    context make_context(const std::shared_ptr<inbound>& admitted, bool is_elsewhere) const;

private:
    /// A token beyond every integer type is still sent back digit by digit.
    std::optional<progress_token> exact_token() const;
};

class tool_entry
{
public:
    explicit tool_entry(comcp::tool described) : info(std::move(described)) {}
    tool_entry(const tool_entry&) = default;
    tool_entry& operator=(const tool_entry&) = delete;
    virtual ~tool_entry() = default;

    /// Runs one call; leads to one answer.
    virtual void call(const std::shared_ptr<const tool_entry>& self, const tool_call& call) const = 0;
    /// A copy that shares the handler, to be changed and published in place of this one.
    virtual std::shared_ptr<tool_entry> copy() const = 0;
    /// Describes a member of the arguments. *Errors*: errc::invalid_argument when there is no such member.
    virtual void describe(std::string name, field note) = 0;
    /// Needs an executor of the host to run on.
    virtual bool blocks() const { return false; }

    comcp::tool info;
    bool enabled = true;
};

} // namespace detail

} // namespace comcp::inline COMCP_ABI

#if !defined(COMCP_SEPARATE)
#include <comcp/server/impl/tool_entry.ipp>
#endif
