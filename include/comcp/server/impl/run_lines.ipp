// SPDX-License-Identifier: MIT
//
// Sessions over sockets, and knowing all that live: see server/run_lines.hpp.
#pragma once

#include <comcp/detail/elsewhere.hpp>
#include <comcp/detail/waiter.hpp>
#include <comcp/error.hpp>
#include <comcp/server/run_lines.hpp>
#include <comcp/server/run_until_signal.hpp>
#include <comcp/server/server_core.hpp>
#include <comcp/server/server_session.hpp>
#include <comcp/timer.hpp>
#include <comcp/transport/acceptor.hpp>
#include <comcp/transport/socket_address.hpp>
#include <comcp/transport/socket_transport.hpp>

#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace comcp::inline COMCP_ABI
{

namespace detail
{

/// A line server as its coroutines hold it. On its home executor, but for the table of sessions: those come and go on
/// executors of their own.
class line_core final : public accept_sink, public std::enable_shared_from_this<line_core>, private parked
{
public:
    line_core(executor ex, std::shared_ptr<server_core> served, line_server_options options)
        : served_(std::move(served)),
          options_(options),
          base_(std::move(ex)),
          home_(make_home()),
          lot_(make_parking_lot(base_)),
          acceptor_(home_, *lot_, asio::socket_base::max_listen_connections)
    {
        lot_->link(*this);
    }
    ~line_core()
    {
        if (home_) lot_->unlink(*this);
    }

    void bind(std::string_view where);
    const std::string& where() const { return where_; }
    std::size_t sessions() const
    {
        const std::lock_guard lock(mutex_);
        return sessions_.size();
    }

    static task<void> run(std::shared_ptr<line_core> self);
    static task<void> drain(std::shared_ptr<line_core> self, duration patience);
    /// Awaits one of them on the home executor.
    static task<void> at_home(std::shared_ptr<line_core> self, task<void> operation);
    /// Any thread.
    void close();

private:
    struct close_now;
    struct session_over;

    executor make_home() const { return options_.is_single_threaded() ? base_ : executor(asio::make_strand(base_)); }
    executor next_home() override { return make_home(); }
    void accepted(stream_socket peer) override;
    void accepting_ended() noexcept override { wake(); }
    static task<void> serve_one(std::shared_ptr<session> owner);

    template <class Work>
    void on_all(Work work);
    void stop_accepting();
    void end_all();
    void abandon_all();
    void close_at_home();
    task<void> until_finished();
    void wake();
    bool finished() const;
    void forget(const std::shared_ptr<session>& gone) noexcept;
    void drop() override;

    const std::shared_ptr<server_core> served_;
    const line_server_options options_;
    executor base_;
    executor home_; // empty once the context has ended
    std::shared_ptr<parking_lot> lot_;
    acceptor acceptor_;
    std::string where_;
    std::vector<waiter*> waiting_; // for the end
    bool running_ = false;
    std::atomic<bool> stopped_{false};

    mutable std::mutex mutex_; // for what follows, and for `home_`
    std::unordered_set<std::shared_ptr<session>> sessions_;
};

struct line_core::close_now
{
    line_core* core;
    void operator()() const { core->close_at_home(); }
};

struct line_core::session_over
{
    session_over(std::shared_ptr<line_core> of, std::shared_ptr<session> which)
        : core(std::move(of)),
          owner(std::move(which))
    {}
    void operator()(std::exception_ptr) const { core->forget(owner); }
    std::shared_ptr<line_core> core;
    std::shared_ptr<session> owner;
};

COMCP_DECL void line_core::bind(std::string_view where)
{
    socket_address at = socket_address::parse(where).value();
    if (!at.local() && !options_.remote_allowed()) {
        throw error(fail(errc::invalid_argument, "other machines can reach \"" + at.host +
                                                     "\", and lines know no credentials: say "
                                                     "allow_unauthorized_remote() if that is meant"));
    }
    const std::size_t before = acceptor_.endpoints().size();
    const result<void> bound =
        at.is_unix() ? acceptor_.bind_unix(at.path, options_.file_mode()) : acceptor_.bind(at.host, at.port);
    if (!bound) throw error(bound.error());
    if (!at.is_unix()) at.port = acceptor_.endpoints()[before].port();
    if (at.host == "0.0.0.0" || at.host == "::") at.host = "localhost";
    if (where_.empty()) where_ = at.text();
}

// ---- life

COMCP_DECL task<void> line_core::at_home(std::shared_ptr<line_core> self, task<void> operation)
{
    co_await on_executor(self->home_, std::move(operation));
}

COMCP_DECL task<void> line_core::run(std::shared_ptr<line_core> self)
{
    check_blocking_handlers(*self->served_);
    if (!std::exchange(self->running_, true)) self->acceptor_.start(self);
    auto end = self->until_finished();
    co_await std::move(end);
}

COMCP_DECL task<void> line_core::drain(std::shared_ptr<line_core> self, duration patience)
{
    self->stop_accepting();
    self->end_all();
    timer limit(self->home_);
    limit.start(deadline_after(limit.now(), patience), close_now{self.get()});
    auto end = self->until_finished();
    co_await std::move(end);
}

COMCP_DECL void line_core::close()
{
    executor home;
    {
        const std::lock_guard lock(mutex_);
        home = home_;
    }
    if (!home) return;
    if (options_.is_single_threaded()) close_at_home();
    else asio::dispatch(home, [self = shared_from_this()] { self->close_at_home(); });
}

COMCP_DECL void line_core::close_at_home()
{
    stop_accepting();
    abandon_all();
}

COMCP_DECL void line_core::stop_accepting()
{
    if (stopped_.exchange(true)) return;
    acceptor_.stop();
    asio::post(home_, [self = shared_from_this()] { self->wake(); });
}

/// Does `work` for each session, where it lives.
template <class Work>
void line_core::on_all(Work work)
{
    std::vector<std::shared_ptr<session>> all;
    {
        const std::lock_guard lock(mutex_);
        all.assign(sessions_.begin(), sessions_.end());
    }
    for (const auto& each : all) each->home()->post([each, work] { work(*each); });
}

COMCP_DECL void line_core::end_all()
{
    on_all([](session& each) { each.begin_close(fault(errc::closed, "the server was stopped"), true); });
}

COMCP_DECL void line_core::abandon_all()
{
    on_all([](session& each) { each.abandon(fault(errc::closed, "the server was closed")); });
}

/// Waits until nothing is accepted any more and no session is left. A cancellation brings that about.
COMCP_DECL task<void> line_core::until_finished()
{
    if (finished()) co_return;
    waiter end(*lot_);
    waiting_.push_back(&end);
    const close_now when_cancelled{this};
    co_await end.wait_through(when_cancelled);
    std::erase(waiting_, &end);
}

/// Resumes whoever waits for what has come about.
COMCP_DECL void line_core::wake()
{
    if (!stopped_) return;
    acceptor_.resume();
    while (finished() && !waiting_.empty()) {
        waiter* const next = waiting_.back();
        waiting_.pop_back();
        next->complete();
    }
}

COMCP_DECL bool line_core::finished() const
{
    const std::lock_guard lock(mutex_);
    return stopped_ && !acceptor_.running() && sessions_.empty();
}

COMCP_DECL void line_core::drop()
{
    const auto self = weak_from_this().lock();
    {
        const std::lock_guard lock(mutex_);
        base_ = home_ = executor();
    }
    acceptor_.drop();
}

// ---- sessions

COMCP_DECL void line_core::accepted(stream_socket peer)
{
    const executor ex = peer.get_executor();
    std::shared_ptr<session> made;
    {
        const std::lock_guard lock(mutex_);
        if (stopped_ || sessions_.size() >= options_.most_connections()) return;
        made = make_server_session(served_, ex, make_socket_transport(std::move(peer), served_->options.limits), {});
        sessions_.insert(made);
    }
    asio::co_spawn(ex, serve_one(made), session_over(shared_from_this(), made));
}

COMCP_DECL task<void> line_core::serve_one(std::shared_ptr<session> owner)
{
    const abandon_on_exit guard(owner);
    co_await session::start(owner);
    co_await session::wait_ended(owner);
}

COMCP_DECL void line_core::forget(const std::shared_ptr<session>& gone) noexcept
{
    const std::lock_guard lock(mutex_);
    sessions_.erase(gone);
    if (sessions_.empty() && stopped_ && home_) asio::post(home_, [self = shared_from_this()] { self->wake(); });
}

COMCP_DECL int run_lines(const std::shared_ptr<server_core>& served, std::string_view where,
                         line_server_options options)
{
    try {
        asio::io_context io(1);
        line_server server(io.get_executor(), served, options.single_threaded());
        server.bind(where);
        run_until_signal(io, server, served->options.limits.close, server.where());
        return 0;
    } catch (const std::exception& e) {
        return tell_failure(e.what());
    }
}

} // namespace detail

COMCP_DECL line_server::line_server(executor ex, std::shared_ptr<detail::server_core> served,
                                    line_server_options options)
    : core_(std::make_shared<detail::line_core>(std::move(ex), std::move(served), options))
{}

COMCP_DECL line_server::~line_server() { core_->close(); }

COMCP_DECL void line_server::bind(std::string_view where) { core_->bind(where); }

COMCP_DECL std::string line_server::where() const { return core_->where(); }

COMCP_DECL task<void> line_server::serve() { return detail::line_core::at_home(core_, detail::line_core::run(core_)); }

COMCP_DECL task<void> line_server::drain(duration patience)
{
    return detail::line_core::at_home(core_, detail::line_core::drain(core_, patience));
}

COMCP_DECL void line_server::close() { core_->close(); }

COMCP_DECL std::size_t line_server::sessions() const { return core_->sessions(); }

} // namespace comcp::inline COMCP_ABI
