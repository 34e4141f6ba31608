// SPDX-License-Identifier: MIT
//
// Accepting connections, and knowing all that live: see http/listener.hpp.
#pragma once

#include <comcp/detail/elsewhere.hpp>
#include <comcp/detail/waiter.hpp>
#include <comcp/http/connection.hpp>
#include <comcp/http/listener.hpp>
#include <comcp/timer.hpp>

#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
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
                            public comcp::detail::accept_sink,
                            public std::enable_shared_from_this<listener_core>,
                            private comcp::detail::parked
{
public:
    listener_core(executor ex, http::service& asked, const http_service_limits& bounds, listener_options chosen)
        : connection_owner(asked, bounds),
          options_(chosen),
          base_(std::move(ex)),
          home_(make_home()),
          lot_(comcp::detail::make_parking_lot(base_)),
          acceptor_(home_, *lot_, chosen.backlog)
    {
        lot_->link(*this);
    }
    ~listener_core()
    {
        if (home_) lot_->unlink(*this);
    }

    comcp::detail::acceptor& sockets() { return acceptor_; }

    static task<void> run(std::shared_ptr<listener_core> self);
    static task<void> drain(std::shared_ptr<listener_core> self, duration time);
    /// Awaits one of them on the home executor.
    static task<void> at_home(std::shared_ptr<listener_core> self, task<void> operation);
    void admit(std::unique_ptr<any_stream> stream);
    /// Any thread.
    void stop() { do_at_home(&listener_core::stop_at_home); }
    void close();

private:
    // Functions with state: a lambda in a coroutine of a header is a type of its own in every file for g++ 12.
    struct cut_all;
    struct finish_one;
    struct close_now;

    executor make_home() const { return options_.single_threaded ? base_ : executor(asio::make_strand(base_)); }
    executor next_home() override { return make_home(); }
    void accepted(stream_socket peer) override { admit(std::make_unique<socket_stream>(std::move(peer))); }
    void accepting_ended() noexcept override { wake(); }
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
    comcp::detail::acceptor acceptor_;
    std::vector<comcp::detail::waiter*> waiting_; // for the end
    bool running_ = false;
    std::atomic<bool> stopped_{false}; // nothing is accepted any more

    mutable std::mutex mutex_; // for what follows, and for `home_`
    std::unordered_set<connection*> connections_;
    std::size_t turned_away_ = 0; // of them
};

/// Connections beyond the limit that get an answer at one time. Further ones are closed without.
inline constexpr std::size_t turned_away_at_most = 64;

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

// ---- life

COMCP_DECL task<void> listener_core::at_home(std::shared_ptr<listener_core> self, task<void> operation)
{
    co_await comcp::detail::on_executor(self->home_, std::move(operation));
}

COMCP_DECL task<void> listener_core::run(std::shared_ptr<listener_core> self)
{
    if (!std::exchange(self->running_, true)) self->acceptor_.start(self);
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
    acceptor_.stop();
    asio::post(home_, [self = shared_from_this()] { self->wake(); });
}

/// Waits until nothing is accepted any more and no connection is left. A cancellation brings that about.
COMCP_DECL task<void> listener_core::until_finished()
{
    if (finished()) co_return;
    comcp::detail::waiter end(*lot_);
    waiting_.push_back(&end);
    const close_now when_cancelled{this};
    co_await end.wait_through(when_cancelled);
    std::erase(waiting_, &end);
}

/// Resumes whoever waits for what has come about.
COMCP_DECL void listener_core::wake()
{
    if (!stopped_) return;
    acceptor_.resume();
    while (finished() && !waiting_.empty()) {
        comcp::detail::waiter* const next = waiting_.back();
        waiting_.pop_back();
        next->complete();
    }
}

COMCP_DECL bool listener_core::finished() const
{
    const std::lock_guard lock(mutex_);
    return stopped_ && !acceptor_.running() && connections_.empty();
}

COMCP_DECL void listener_core::drop()
{
    const auto self = weak_from_this().lock();
    {
        const std::lock_guard lock(mutex_);
        base_ = home_ = executor();
    }
    acceptor_.drop();
}

// ---- connections

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

COMCP_DECL result<void> listener::bind(std::string_view host, std::uint16_t port)
{
    return core_->sockets().bind(host, port);
}

COMCP_DECL result<void> listener::bind_unix(std::string_view path, mode_t mode)
{
    return core_->sockets().bind_unix(path, mode);
}

COMCP_DECL std::vector<asio::ip::tcp::endpoint> listener::endpoints() const { return core_->sockets().endpoints(); }

COMCP_DECL std::uint16_t listener::port() const
{
    const auto& all = core_->sockets().endpoints();
    return all.empty() ? std::uint16_t(0) : all.front().port();
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
