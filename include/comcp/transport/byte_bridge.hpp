// SPDX-License-Identifier: MIT
//
// Joins stdin and stdout with a socket, byte by byte: what one side does not take, the other side's reading waits for,
// with one block of memory for each direction and no longer than the stall limit. It does not look at what passes.
#pragma once

#include <comcp/detail/waiter.hpp>
#include <comcp/limits.hpp>
#include <comcp/result.hpp>
#include <comcp/task.hpp>
#include <comcp/timer.hpp>
#include <comcp/transport/socket_address.hpp>
#include <comcp/transport/stream_socket.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <system_error>

namespace comcp::inline COMCP_ABI::detail
{

/// Thread rule: one executor.
class byte_bridge : public std::enable_shared_from_this<byte_bridge>
{
public:
    /// The descriptors stay the caller's. `write_stall` and `close` count of the limits.
    byte_bridge(const executor& ex, int input, int output, socket_address to, duration connect_within,
                const limits& bounds);
    ~byte_bridge();

    /// Connects and runs it to its end. *Result*: why it ended; empty when the host ended it. *Errors*: those of
    /// connecting. *Cancellation*: terminal, until it has begun.
    static task<fault> run(std::shared_ptr<byte_bridge> self);
    /// It is connected, and ends with `stop`.
    bool begun() const { return begun_; }
    /// Ends it at once.
    void stop();

private:
    struct pump_ended;
    struct time_up;
    struct not_read;

    /// Writes all of it. *Result*: why it could not.
    template <class Stream>
    static task<std::error_code> write_all(byte_bridge* self, Stream& to, timer& stall, char* bytes, std::size_t size);
    static task<void> from_host(std::shared_ptr<byte_bridge> self);
    static task<void> from_app(std::shared_ptr<byte_bridge> self);
    void end(fault why);

    executor executor_;
    std::shared_ptr<parking_lot> lot_;
    asio::posix::stream_descriptor input_;
    asio::posix::stream_descriptor output_;
    std::optional<stream_socket> socket_;
    socket_address to_;
    duration connect_within_;
    duration write_stall_;
    duration close_;
    timer clock_;
    timer app_stall_;  // while the application takes nothing
    timer host_stall_; // while the host takes nothing
    waiter changed_;   // the running coroutine
    std::optional<fault> why_;
    bool input_over_ = false;
    bool over_ = false;
    bool begun_ = false;
    int pumps_ = 0;
};

} // namespace comcp::inline COMCP_ABI::detail

#if !defined(COMCP_SEPARATE)
#include <comcp/transport/impl/byte_bridge.ipp>
#endif
