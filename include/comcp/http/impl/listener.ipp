// SPDX-License-Identifier: MIT
//
// Accepting connections, and knowing all that live: see http/listener.hpp.
#pragma once

#include <comcp/detail/elsewhere.hpp>
#include <comcp/detail/waiter.hpp>
#include <comcp/http/connection.hpp>
#include <comcp/http/grammar.hpp>
#include <comcp/http/listener.hpp>
#include <comcp/timer.hpp>

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace comcp::inline COMCP_ABI::http
{

namespace detail
{

/// The listener as its coroutines hold it. On its home executor, but for the table of connections: those come and go on
/// executors of their own.
class listener_core final : public connection_owner,
                            public std::enable_shared_from_this<listener_core>,
                            private comcp::detail::parked
{
    using tcp = asio::ip::tcp;

public:
    listener_core(executor ex, http::service& asked, const http_service_limits& bounds, listener_options chosen)
        : connection_owner(asked, bounds),
          options_(chosen),
          base_(std::move(ex)),
          home_(make_home()),
          lot_(comcp::detail::make_parking_lot(base_))
    {
        lot_->link(*this);
    }
    ~listener_core()
    {
        if (home_) lot_->unlink(*this);
    }

    result<void> bind(std::string_view host, std::uint16_t port);
    const std::vector<tcp::endpoint>& endpoints() const { return endpoints_; }

    static task<void> run(std::shared_ptr<listener_core> self);
    static task<void> drain(std::shared_ptr<listener_core> self, duration time);
    /// Awaits one of them on the home executor.
    static task<void> at_home(std::shared_ptr<listener_core> self, task<void> operation);
    void admit(std::unique_ptr<any_stream> stream);
    /// Any thread.
    void stop() { do_at_home(&listener_core::stop_at_home); }
    void close();

private:
    struct door
    {
        door(tcp::acceptor open, const executor& ex, comcp::detail::parking_lot& lot)
            : acceptor(std::move(open)),
              paused(lot),
              pause(ex)
        {}
        std::optional<tcp::acceptor> acceptor;
        comcp::detail::waiter paused;
        timer pause;
    };
    // Functions with state: a lambda in a coroutine of a header is a type of its own in every file for g++ 12.
    struct cut_all;
    struct finish_one;
    struct close_now;
    struct resume;
    struct accept_ended;

    executor make_home() const { return options_.single_threaded ? base_ : executor(asio::make_strand(base_)); }
    result<tcp::acceptor> open(const tcp::endpoint& at) const;
    result<void> bind_localhost(std::uint16_t port);
    void add(tcp::acceptor open);

    static task<void> accept(std::shared_ptr<listener_core> self, door& from);
    void take(tcp::socket peer);
    void do_at_home(void (listener_core::*what)());
    void stop_accepting();
    void stop_at_home();
    void close_at_home();
    task<void> until_finished();
    void wake();
    bool finished() const;

    std::vector<std::shared_ptr<connection>> connections() const;
    bool forget(connection& gone) noexcept;
    void ended(connection& which) noexcept override;
    void destroyed(connection& which) noexcept override { forget(which); }
    void drop() override;

    const listener_options options_;
    executor base_;
    executor home_; // empty once the context has ended
    std::shared_ptr<comcp::detail::parking_lot> lot_;
    std::vector<std::unique_ptr<door>> doors_;
    std::vector<tcp::endpoint> endpoints_;
    std::vector<comcp::detail::waiter*> waiting_; // for the end
    std::size_t accepting_ = 0;                   // coroutines
    bool running_ = false;
    std::atomic<bool> stopped_{false}; // nothing is accepted any more

    mutable std::mutex mutex_; // for what follows, and for `home_`
    std::unordered_set<connection*> connections_;
    std::size_t turned_away_ = 0; // of them
};

/// Connections beyond the limit that get an answer at one time. Further ones are closed without.
inline constexpr std::size_t turned_away_at_most = 64;

inline constexpr duration first_pause = std::chrono::milliseconds(10);
inline constexpr duration longest_pause = std::chrono::seconds(1);

struct listener_core::close_now
{
    listener_core* core;
    void operator()() const { core->close_at_home(); }
};

struct listener_core::cut_all
{
    listener_core* core;
    void operator()() const
    {
        for (auto& each : core->connections()) {
            connection& one = *each;
            asio::dispatch(one.home(), [held = std::move(each)] { held->cut(); });
        }
    }
};

struct listener_core::finish_one
{
    explicit finish_one(std::shared_ptr<connection> of) : held(std::move(of)) {}
    void operator()() const { held->finish(); }
    std::shared_ptr<connection> held;
};

struct listener_core::resume
{
    comcp::detail::waiter* who;
    void operator()() const { who->complete(); }
};

struct listener_core::accept_ended
{
    explicit accept_ended(std::shared_ptr<listener_core> of) : core(std::move(of)) {}
    void operator()(std::exception_ptr) const
    {
        --core->accepting_;
        core->wake();
    }
    std::shared_ptr<listener_core> core;
};

// ---- addresses

COMCP_DECL result<void> listener_core::bind(std::string_view host, std::uint16_t port)
{
    if (equal_ignoring_case(host, "localhost")) return bind_localhost(port);
    io_error_code failed;
    const auto address = asio::ip::make_address(std::string(host), failed);
    if (failed) {
        return fail(errc::invalid_argument,
                    "\"" + std::string(host) + "\" is no address to listen at: give an IP address or \"localhost\"");
    }
    result<tcp::acceptor> opened = open({address, port});
    if (!opened) return opened.error();
    add(*std::move(opened));
    return {};
}

COMCP_DECL result<void> listener_core::bind_localhost(std::uint16_t port)
{
    constexpr int attempts = 16; // the port that is free in one family may be taken in the other
    for (int attempt = 1;; ++attempt) {
        result<tcp::acceptor> four = open({asio::ip::address_v4::loopback(), port});
        if (!four) return four.error();
        io_error_code ignored;
        result<tcp::acceptor> six = open({asio::ip::address_v6::loopback(), four->local_endpoint(ignored).port()});
        const int reason = six ? 0 : six.error().code.value();
        const bool no_ipv6 = reason == EAFNOSUPPORT || reason == EADDRNOTAVAIL || reason == EPROTONOSUPPORT;
        if (!six && !no_ipv6 && port == 0 && attempt < attempts) continue;
        if (!six && !no_ipv6) return six.error();
        add(*std::move(four));
        if (six) add(*std::move(six));
        return {};
    }
}

COMCP_DECL result<asio::ip::tcp::acceptor> listener_core::open(const tcp::endpoint& at) const
{
    io_error_code failed;
    tcp::acceptor made(home_);
    made.open(at.protocol(), failed);
    // Without it a server that was restarted could not listen while connections of the last one fade away.
    if (!failed) made.set_option(tcp::acceptor::reuse_address(true), failed);
    if (!failed && at.address().is_v6()) made.set_option(asio::ip::v6_only(true), failed);
    if (!failed) made.bind(at, failed);
    if (!failed) made.listen(options_.backlog, failed);
    if (failed) {
        const std::string host = at.address().is_v6() ? "[" + at.address().to_string() + "]" : at.address().to_string();
        return fault(std::error_code(failed.value(), std::system_category()),
                     "cannot listen at " + host + ":" + std::to_string(at.port()) + ": " + failed.message());
    }
    ::fcntl(made.native_handle(), F_SETFD, FD_CLOEXEC);
    return made;
}

COMCP_DECL void listener_core::add(tcp::acceptor open)
{
    io_error_code ignored;
    endpoints_.push_back(open.local_endpoint(ignored));
    doors_.push_back(std::make_unique<door>(std::move(open), home_, *lot_));
}

// ---- life

COMCP_DECL task<void> listener_core::at_home(std::shared_ptr<listener_core> self, task<void> operation)
{
    co_await comcp::detail::on_executor(self->home_, std::move(operation));
}

COMCP_DECL task<void> listener_core::run(std::shared_ptr<listener_core> self)
{
    if (!std::exchange(self->running_, true) && !self->stopped_) {
        for (const auto& each : self->doors_) {
            ++self->accepting_;
            asio::co_spawn(self->home_, accept(self, *each), accept_ended(self));
        }
    }
    co_await self->until_finished();
}

COMCP_DECL task<void> listener_core::drain(std::shared_ptr<listener_core> self, duration time)
{
    self->stop_at_home();
    timer limit(self->home_);
    limit.start(comcp::detail::deadline_after(limit.now(), time), cut_all{self.get()});
    co_await self->until_finished();
}

COMCP_DECL void listener_core::do_at_home(void (listener_core::*what)())
{
    executor home;
    {
        const std::lock_guard lock(mutex_);
        home = home_;
    }
    if (!home) return;
    if (options_.single_threaded) (this->*what)();
    else asio::dispatch(home, [self = shared_from_this(), what] { ((*self).*what)(); });
}

COMCP_DECL void listener_core::close()
{
    closed = true;
    do_at_home(&listener_core::close_at_home);
}

COMCP_DECL void listener_core::stop_at_home()
{
    stop_accepting();
    for (auto& each : connections()) {
        connection& one = *each;
        asio::dispatch(one.home(), finish_one(std::move(each)));
    }
}

COMCP_DECL void listener_core::close_at_home()
{
    closed = true;
    stop_accepting();
    cut_all{this}();
}

COMCP_DECL void listener_core::stop_accepting()
{
    if (stopped_.exchange(true)) return;
    for (const auto& each : doors_) {
        io_error_code ignored;
        each->acceptor->close(ignored);
        each->pause.cancel();
    }
    asio::post(home_, [self = shared_from_this()] { self->wake(); });
}

/// Waits until nothing is accepted any more and no connection is left.
COMCP_DECL task<void> listener_core::until_finished()
{
    if (finished()) co_return;
    comcp::detail::waiter end(*lot_);
    waiting_.push_back(&end);
    const close_now when_cancelled{this};
    co_await end.wait(when_cancelled);
    std::erase(waiting_, &end);
}

/// Resumes whoever waits for what has come about.
COMCP_DECL void listener_core::wake()
{
    if (!stopped_) return;
    for (const auto& each : doors_) each->paused.complete();
    while (finished() && !waiting_.empty()) {
        comcp::detail::waiter* const next = waiting_.back();
        waiting_.pop_back();
        next->complete();
    }
}

COMCP_DECL bool listener_core::finished() const
{
    const std::lock_guard lock(mutex_);
    return stopped_ && accepting_ == 0 && connections_.empty();
}

COMCP_DECL void listener_core::drop()
{
    const auto self = weak_from_this().lock();
    {
        const std::lock_guard lock(mutex_);
        base_ = home_ = executor();
    }
    for (const auto& each : doors_) each->acceptor.reset();
}

// ---- connections

COMCP_DECL task<void> listener_core::accept(std::shared_ptr<listener_core> self, door& from)
{
    duration wait = first_pause;
    while (!self->stopped_) {
        io_error_code failed;
        const executor home = self->make_home();
        tcp::socket peer =
            co_await from.acceptor->async_accept(home, asio::redirect_error(asio::use_awaitable, failed));
        if (self->stopped_) break;
        bool taken = false;
        try {
            if (!failed) self->take(std::move(peer));
            taken = !failed;
        } catch (const std::exception&) { // out of memory
        }
        if (taken) {
            wait = first_pause;
            continue;
        }
        // No descriptors, usually. Connections that end give some back, and accepting at once again would only spin.
        from.pause.start(comcp::detail::deadline_after(from.pause.now(), wait), resume{&from.paused});
        co_await from.paused.wait();
        wait = std::min(wait * 2, longest_pause);
    }
}

COMCP_DECL void listener_core::take(tcp::socket peer)
{
    ::fcntl(peer.native_handle(), F_SETFD, FD_CLOEXEC);
    admit(std::make_unique<tcp_stream>(std::move(peer)));
}

COMCP_DECL void listener_core::admit(std::unique_ptr<any_stream> stream)
{
    std::shared_ptr<connection> made;
    {
        const std::lock_guard lock(mutex_);
        if (stopped_ || !home_) return;
        const bool serve = connections_.size() - turned_away_ < limits.connections;
        if (!serve && turned_away_ == turned_away_at_most) return;
        made = std::make_shared<connection>(make_home(), std::move(stream), shared_from_this(),
                                            serve ? connection::manner::serve : connection::manner::turn_away);
        connections_.insert(made.get());
        if (!serve) ++turned_away_;
    }
    connection::start(std::move(made));
}

COMCP_DECL std::vector<std::shared_ptr<connection>> listener_core::connections() const
{
    const std::lock_guard lock(mutex_);
    std::vector<std::shared_ptr<connection>> all;
    for (connection* each : connections_) {
        if (auto held = each->weak_from_this().lock()) all.push_back(std::move(held));
    }
    return all;
}

/// True when it was the last one.
COMCP_DECL bool listener_core::forget(connection& gone) noexcept
{
    const std::lock_guard lock(mutex_);
    if (connections_.erase(&gone) == 0) return false;
    if (gone.how() == connection::manner::turn_away) --turned_away_;
    return connections_.empty();
}

COMCP_DECL void listener_core::ended(connection& which) noexcept
{
    if (forget(which) && stopped_) asio::post(home_, [self = shared_from_this()] { self->wake(); });
}

} // namespace detail

COMCP_DECL listener::listener(executor ex, http::service& service, http_service_limits limits, listener_options options)
    : core_(std::make_shared<detail::listener_core>(std::move(ex), service, limits, options))
{}

COMCP_DECL listener::~listener() { core_->close(); }

COMCP_DECL result<void> listener::bind(std::string_view host, std::uint16_t port) { return core_->bind(host, port); }

COMCP_DECL std::vector<asio::ip::tcp::endpoint> listener::endpoints() const { return core_->endpoints(); }

COMCP_DECL std::uint16_t listener::port() const
{
    return core_->endpoints().empty() ? std::uint16_t(0) : core_->endpoints().front().port();
}

COMCP_DECL task<void> listener::run()
{
    return detail::listener_core::at_home(core_, detail::listener_core::run(core_));
}

COMCP_DECL void listener::serve(std::unique_ptr<any_stream> stream) { core_->admit(std::move(stream)); }

COMCP_DECL void listener::stop() { core_->stop(); }

COMCP_DECL task<void> listener::drain(duration time)
{
    return detail::listener_core::at_home(core_, detail::listener_core::drain(core_, time));
}

COMCP_DECL void listener::close() { core_->close(); }

} // namespace comcp::inline COMCP_ABI::http
