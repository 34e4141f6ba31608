// SPDX-License-Identifier: MIT
//
// Where the result of one handler goes: a tool's, a resource's, a prompt's or a completion's.
#pragma once

#include <comcp/config.hpp>

#include <cstdint>
#include <string_view>

namespace comcp::inline COMCP_ABI
{

class completion;
class context;
class prompt_result;
class resource_result;
class tool_result;

namespace rpc
{
class id;
}
namespace wire
{
class codec;
}

namespace detail
{

class session;
struct answer_route;
struct handler_environment;

/// The way of one answer. A few pointers, usable on the handler's executor.
class reply
{
public:
    /// Answers in the reader's turn, without an admitted request.
    reply(const handler_environment& shared, session& owner, const rpc::id& id, const answer_route& route,
          bool owes_structure = false);
    /// Answers the context's request. `ctx` stands in the frame that the reply stands in.
    explicit reply(const context& ctx);

    // A tool's. One that declared an output schema has failed when its result has no structured content (2025-06-18,
    // tools, output schema: F-8).
    void send_nothing() const;
    void send_text(std::string_view text) const;
    void send_result(const tool_result& value) const;
    /// The text of an object, which becomes `structuredContent` and a text copy of it (F-8).
    void send_structured(std::string_view object) const;
    /// A number of the result is NaN or infinite: JSON has no word for it, and null would be something else.
    void send_not_finite() const;
    void send_failure(std::string_view text) const;
    /// The current exception as a result. A cancelled call has nobody to tell: its answer is dropped on the way.
    void send_tool_exception() const;

    void send_resource(const resource_result& value) const;
    void send_prompt(const prompt_result& value) const;
    void send_completion(const completion& value) const;

    /// `data` is JSON text; empty for none.
    void send_error(std::int64_t code, std::string_view message, std::string_view data = {}) const;
    void send_resource_not_found(std::string_view uri) const;
    /// The current exception as an error. `what` is said of an exception whose own text is not meant for a peer, and
    /// `uri` the resource that was read, if any.
    void send_exception(std::string_view what, std::string_view uri = {}) const;

private:
    template <class Write>
    void send(Write write) const;
    template <class Write>
    void send_if_finite(Write write) const;
    bool owes_structure() const;
    void send_unstructured() const;
    /// Tells the observer why a handler failed.
    void observe_failure(std::string_view why) const;

    const wire::codec& codec_; // codecs live for ever
    const handler_environment& shared_;
    session* owner_ = nullptr;
    const rpc::id* id_ = nullptr;
    const answer_route* route_ = nullptr;
    const context* context_ = nullptr;
    bool owes_structure_ = false;
};

} // namespace detail

} // namespace comcp::inline COMCP_ABI

#if !defined(COMCP_SEPARATE)
#include <comcp/server/impl/reply.ipp>
#endif
