// SPDX-License-Identifier: MIT
//
// Where the result of one tool call goes, and how a handler says that it failed.
#pragma once

#include <comcp/config.hpp>
#include <comcp/protocol/revision.hpp>

#include <stdexcept>
#include <string_view>

namespace comcp::inline COMCP_ABI
{

class context;
class tool_result;

namespace rpc
{
class id;
}
namespace wire
{
class codec;
}

/// Thrown by a handler whose failure the model should read: the text becomes an `isError` result. Any other exception
/// becomes one with a fixed text, since its own may hold what is not meant for a model.
class tool_error : public std::runtime_error
{
public:
    using std::runtime_error::runtime_error;
};

namespace detail
{

class session;
struct answer_route;

/// The way of one answer. A few pointers, usable on the handler's executor.
class reply
{
public:
    /// Answers in the reader's turn, without an admitted request.
    reply(const wire::codec& codec, revision at, session& owner, const rpc::id* id, const answer_route* route)
        : codec_(&codec),
          at_(at),
          owner_(&owner),
          id_(id),
          route_(route)
    {}
    /// Answers the context's request. `ctx` stands in the frame that the reply stands in.
    reply(const wire::codec& codec, const context& ctx, bool elsewhere);

    void send_nothing() const;
    void send_text(std::string_view text) const;
    void send_result(const tool_result& value) const;
    /// The text of an object, which becomes `structuredContent` and a text copy of it (F-8).
    void send_structured(std::string_view object) const;
    void send_failure(std::string_view text) const;
    /// The current exception as a result. A cancelled call has nobody to tell: its answer is dropped on the way.
    void send_exception() const;

private:
    template <class Write>
    void send(Write write) const;

    const wire::codec* codec_;
    revision at_;
    session* owner_ = nullptr;
    const rpc::id* id_ = nullptr;
    const answer_route* route_ = nullptr;
    const context* context_ = nullptr;
    bool elsewhere_ = false;
};

} // namespace detail

} // namespace comcp::inline COMCP_ABI

#if !defined(COMCP_SEPARATE)
#include <comcp/server/impl/reply.ipp>
#endif
