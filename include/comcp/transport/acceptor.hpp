// SPDX-License-Identifier: MIT
//
// Listening sockets, TCP and Unix: binds them, accepts, and waits when the system has no descriptors left. What serves
// the connections is its sink: http/listener.hpp, or the line server (server/run_lines.hpp). Not for limiting them.
#pragma once

#include <comcp/asio.hpp>
#include <comcp/detail/waiter.hpp>
#include <comcp/result.hpp>
#include <comcp/task.hpp>
#include <comcp/timer.hpp>
#include <comcp/transport/stream_socket.hpp>

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace comcp::inline COMCP_ABI::detail
{

/// Who gets what is accepted; kept alive by the accepting coroutines.
class accept_sink
{
public:
    accept_sink() = default;
    accept_sink(const accept_sink&) = delete;
    accept_sink& operator=(const accept_sink&) = delete;

    /// Where the next connection lives.
    virtual executor next_home() = 0;
    /// A connection. What this throws (no memory) is like a refusal of the system: the connection is closed.
    virtual void accepted(stream_socket peer) = 0;
    /// A coroutine has ended, perhaps the last one.
    virtual void accepting_ended() noexcept = 0;

protected:
    ~accept_sink() = default;
};

/// The file of a Unix socket, removed with this object if it is still the same.
class socket_file
{
public:
    socket_file() = default;
    explicit socket_file(std::string path);
    socket_file(socket_file&& other) noexcept : path_(std::exchange(other.path_, {})), id_(other.id_), on_(other.on_) {}
    socket_file& operator=(socket_file&& other) noexcept
    {
        std::swap(path_, other.path_);
        std::swap(id_, other.id_);
        std::swap(on_, other.on_);
        return *this;
    }
    ~socket_file() { remove(); }

    void remove() noexcept;

private:
    std::string path_; // empty: nothing to remove
    ino_t id_{};
    dev_t on_{};
};

/// Thread rule: its executor, `home`.
class acceptor
{
public:
    acceptor(executor home, parking_lot& lot, int backlog) : home_(std::move(home)), lot_(lot), backlog_(backlog) {}
    acceptor(const acceptor&) = delete;
    acceptor& operator=(const acceptor&) = delete;

    /// Listens at an IP address, or at "localhost": both families with the same port, only IPv4 where IPv6 is down.
    /// Port 0 takes a free one.
    ///
    /// *Errors*: those of the system; errc::invalid_argument for another name.
    result<void> bind(std::string_view host, std::uint16_t port);
    /// Listens at a Unix socket. A file that a server left behind is replaced; one at which somebody listens, and one
    /// that is no socket, is an error and stays. `mode` is that of the file from before anybody can connect. "@name"
    /// has no file, and whoever is on the machine can connect.
    ///
    /// *Errors*: those of the system; errc::invalid_argument for a path that a Unix socket cannot have.
    result<void> bind_unix(std::string_view path, mode_t mode);

    /// Of TCP, in the order of binding.
    const std::vector<asio::ip::tcp::endpoint>& endpoints() const { return endpoints_; }

    /// Accepts from now on.
    void start(const std::shared_ptr<accept_sink>& sink);
    /// Accepts nothing any more, and removes the files. The coroutines end later: `resume` helps those that pause.
    void stop();
    void resume();
    /// Whether a coroutine still accepts.
    bool running() const { return accepting_ != 0; }
    /// The context ends.
    void drop();

private:
    using socket_acceptor = asio::basic_socket_acceptor<stream_protocol>;
    struct door
    {
        door(socket_acceptor open, const executor& ex, parking_lot& lot)
            : listening(std::move(open)),
              paused(lot),
              pause(ex)
        {}
        std::optional<socket_acceptor> listening;
        socket_file file;
        waiter paused;
        timer pause;
    };
    // Functions with state: a lambda in a coroutine of a header is a type of its own in every file for g++ 12.
    struct resume_one;
    struct ended;

    result<socket_acceptor> open(const asio::ip::tcp::endpoint& at) const;
    result<void> bind_localhost(std::uint16_t port);
    void add(socket_acceptor open);
    static task<void> accept(acceptor& self, std::shared_ptr<accept_sink> sink, door& from);

    executor home_;
    parking_lot& lot_;
    int backlog_;
    std::vector<std::unique_ptr<door>> doors_;
    std::vector<asio::ip::tcp::endpoint> endpoints_;
    std::size_t accepting_ = 0; // coroutines
    bool stopped_ = false;
};

} // namespace comcp::inline COMCP_ABI::detail

#if !defined(COMCP_SEPARATE)
#include <comcp/transport/impl/acceptor.ipp>
#endif
