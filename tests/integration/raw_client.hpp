// SPDX-License-Identifier: MIT
//
// A client of bytes on a real socket, for tests of HTTP servers: sends what it is told, waits for what must come. No
// wait is longer than 20 s: a server that hangs is a failure. Not for speaking HTTP well.
#pragma once

#include "catch.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

namespace support
{

class raw_client
{
public:
    /// A socket that is not connected yet.
    explicit raw_client(int family = AF_INET) : family_(family), fd_(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0))
    {
        const timeval most{20, 0};
        ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most);
        ::setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof most);
        const int on = 1;
        ::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    }
    explicit raw_client(std::uint16_t port, int family = AF_INET) : raw_client(family)
    {
        if (!connect(port)) FAIL("no connection: " << std::strerror(errno));
    }
    raw_client(raw_client&& from) noexcept
        : family_(from.family_),
          fd_(std::exchange(from.fd_, -1)),
          held_(std::move(from.held_))
    {}
    ~raw_client() { close(); }

    int get() const { return fd_; }
    /// To this machine.
    bool connect(std::uint16_t port)
    {
        if (family_ == AF_INET) {
            sockaddr_in to{};
            to.sin_family = AF_INET;
            to.sin_port = htons(port);
            to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
            return ::connect(fd_, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0;
        }
        sockaddr_in6 to{};
        to.sin6_family = AF_INET6;
        to.sin6_port = htons(port);
        to.sin6_addr = in6addr_loopback;
        return ::connect(fd_, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0;
    }

    /// False when the server did not take all of it.
    bool send(std::string_view bytes)
    {
        while (!bytes.empty()) {
            const ssize_t n = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (n < 0) return false;
            bytes.remove_prefix(static_cast<std::size_t>(n));
        }
        return true;
    }

    /// Everything up to and with `mark`.
    std::string until(std::string_view mark)
    {
        std::size_t at = 0;
        while ((at = held_.find(mark)) == held_.npos) {
            if (!fill()) FAIL("\"" << mark << "\" did not come: " << std::strerror(errno) << "; but: " << held_);
        }
        std::string out = held_.substr(0, at + mark.size());
        held_.erase(0, out.size());
        return out;
    }
    /// One answer with a Content-Length, whole.
    std::string answer()
    {
        std::string out = until("\r\n\r\n");
        constexpr std::string_view name = "Content-Length: ";
        const std::size_t at = out.find(name);
        if (at == out.npos) return out;
        const std::size_t size = std::stoul(out.substr(at + name.size()));
        while (held_.size() < size) {
            if (!fill()) FAIL("the content ended early: " << std::strerror(errno));
        }
        out += held_.substr(0, size);
        held_.substr(size).swap(held_); // no more memory than that: some tests keep a thousand of these
        return out;
    }
    std::string ask(std::string_view bytes)
    {
        if (!send(bytes)) FAIL("the server does not read: " << std::strerror(errno));
        return answer();
    }
    /// All that comes until the server ends; a reset ends it too.
    std::string rest()
    {
        while (fill()) {
        }
        if (errno == EAGAIN) FAIL("the server does not end; it sent: " << held_);
        return std::exchange(held_, {});
    }
    /// Whether something can be read, be it the end, within so many milliseconds.
    bool readable(int milliseconds) const
    {
        pollfd ask{fd_, POLLIN, 0};
        return ::poll(&ask, 1, milliseconds) == 1;
    }

    void end() const { ::shutdown(fd_, SHUT_WR); }
    void close()
    {
        if (fd_ >= 0) ::close(std::exchange(fd_, -1));
    }
    /// Breaks the connection instead of ending it.
    void reset()
    {
        const linger at_once{1, 0};
        ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
        close();
    }

private:
    bool fill()
    {
        char chunk[16384];
        errno = 0;
        const ssize_t n = ::recv(fd_, chunk, sizeof chunk, 0);
        if (n > 0) held_.append(chunk, static_cast<std::size_t>(n));
        return n > 0;
    }

    int family_;
    int fd_;
    std::string held_;
};

} // namespace support
