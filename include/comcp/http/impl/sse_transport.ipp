// SPDX-License-Identifier: MIT
//
// The transport in front of the hub, and the one that chooses between the two kinds.
#pragma once

#include <comcp/http/client_head.hpp>
#include <comcp/http/client_transport.hpp>
#include <comcp/http/sse_hub.hpp>
#include <comcp/http/sse_transport.hpp>

#include <comcp/error.hpp>
#include <comcp/timer.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace comcp::inline COMCP_ABI::http
{

namespace detail
{

class sse_transport final : public transport
{
public:
    explicit sse_transport(client_settings with) : with_(std::move(with)) {}
    ~sse_transport() override { close(); }

    task<void> open() override
    {
        if (result<void> bad = choose_door(with_); !bad) throw error(std::move(bad).error());
        const comcp::executor ex = co_await asio::this_coro::executor;
        hub_ = std::make_shared<sse_hub>(ex, with_);
        co_await sse_hub::open(hub_);
    }

    task<void> receive(transport_batch& batch) override { return sse_hub::receive(hub_, batch); }
    std::string& begin(const send_hint& hint) override { return hub_->begin(hint); }
    void commit() override { hub_->commit(); }
    void flush() override {}

    // Each message is a POST of its own with a limit of its own: none of them stalls the session.
    std::size_t queued() const override { return 0; }
    std::uint64_t written() const override { return 0; }
    std::error_code write_error() const override { return {}; }
    void on_drained(void (*)(void*), void*) override {}

    void abandon(exchange_id exchange) override { hub_->settle(exchange); }
    void complete(exchange_id exchange) override { hub_->settle(exchange); }
    void negotiated(std::string_view version) override { hub_->negotiated(version); }

    task<void> finish() override { return sse_hub::finish(hub_); }
    void close() noexcept override
    {
        if (hub_) hub_->close();
    }
    void context_gone() noexcept override
    {
        if (hub_) hub_->context_gone();
    }

private:
    client_settings with_;
    std::shared_ptr<sse_hub> hub_;
};

class fallback_transport final : public transport
{
public:
    explicit fallback_transport(client_settings with) : with_(std::move(with)), inner_(make_client_transport(with_)) {}

    task<void> open() override
    {
        const comcp::executor ex = co_await asio::this_coro::executor;
        if (with_.old->holds(comcp::timer(ex).now())) {
            co_await open_old();
            if (settled_) co_return;
        }
        co_await inner_->open();
    }
    task<void> receive(transport_batch& batch) override
    {
        return settled_ ? inner_->receive(batch) : receive_first(batch);
    }
    std::string& begin(const send_hint& hint) override
    {
        if (settled_ || !hello_.empty() || hint.what != send_hint::kind::request) return inner_->begin(hint);
        hello_hint_ = hint;
        return hello_;
    }
    void commit() override
    {
        // The first request is kept as long as it may have to be said again.
        if (hello_hint_ && !said_) return say();
        inner_->commit();
    }
    void flush() override { inner_->flush(); }

    std::size_t queued() const override { return inner_->queued(); }
    std::uint64_t written() const override { return inner_->written(); }
    std::error_code write_error() const override { return inner_->write_error(); }
    void on_drained(void (*)(void*), void*) override {} // neither of the two queues anything

    void abandon(exchange_id exchange) override
    {
        if (hello_hint_ && exchange == hello_hint_->exchange) hello_hint_.reset();
        inner_->abandon(exchange);
    }
    void complete(exchange_id exchange) override { inner_->complete(exchange); }
    bool resume(exchange_id exchange) override { return inner_->resume(exchange); }
    void negotiated(std::string_view version) override { inner_->negotiated(version); }
    void listen() override { inner_->listen(); }

    task<void> finish() override { return inner_->finish(); }
    void close() noexcept override { inner_->close(); }
    void context_gone() noexcept override { inner_->context_gone(); }

private:
    void say()
    {
        said_ = true;
        inner_->begin(*hello_hint_) += hello_;
        inner_->commit();
    }

    void settle()
    {
        settled_ = true;
        hello_hint_.reset();
        std::string().swap(hello_);
    }

    /// Of servers that know no POST at this URL, whatever is in the body (2025-11-25, transports: backwards
    /// compatibility, E-52). An error with the id of the request is its answer, and no refusal.
    static bool may_be_old(const fault& why)
    {
        const int status = why.http ? why.http->status : 0;
        return status == 400 || status == 404 || status == 405;
    }

    /// Settled, or back at Streamable HTTP because the server says that the old transport is not there any more.
    task<void> open_old()
    {
        inner_ = make_sse_transport(with_);
        std::optional<fault> failed;
        try {
            co_await inner_->open();
        } catch (const error& e) {
            failed = e.fault();
        }
        if (!failed) co_return settle();
        const bool answered = failed->code == errc::bad_response && !(failed->http && failed->http->status >= 500);
        if (answered || failed->code == errc::timed_out) with_.old->forget();
        if (!answered) throw error(std::move(*failed));
        inner_ = make_client_transport(with_);
    }

    task<void> receive_first(transport_batch& batch)
    {
        const comcp::executor ex = co_await asio::this_coro::executor;
        co_await inner_->receive(batch);
        const auto refused = std::ranges::find_if(batch, [this](const transport_event& each) {
            return each.what == transport_event::kind::exchange_failed && hello_hint_ &&
                   each.exchange == hello_hint_->exchange && may_be_old(each.why);
        });
        if (refused == batch.end()) co_return settle();
        const exchange_id hello = refused->exchange;
        fault why = std::move(refused->why);
        batch.clear();
        inner_ = make_sse_transport(with_);
        std::optional<fault> failed;
        try {
            co_await inner_->open();
        } catch (const error& e) {
            failed = e.fault();
        }
        if (!failed) {
            with_.old->keep_until(comcp::detail::deadline_after(comcp::timer(ex).now(), with_.times.remembered));
            if (hello_hint_) say(); // else it was given up meanwhile
            settle();
            co_await inner_->receive(batch);
            co_return;
        }
        settle();
        const bool tells_more = failed->code == errc::unauthorized || failed->code == errc::forbidden ||
                                (failed->code == errc::bad_response && !failed->http);
        if (tells_more) why = std::move(*failed);
        else why.text += "; nor is the old HTTP+SSE there: " + failed->text;
        transport_event& event = batch.emplace_back();
        event.what = transport_event::kind::exchange_failed;
        event.exchange = hello;
        event.why = std::move(why);
    }

    client_settings with_;
    std::unique_ptr<transport> inner_;
    bool settled_ = false;
    bool said_ = false;
    std::optional<send_hint> hello_hint_; // of the first request, until it was answered or given up
    std::string hello_;
};

} // namespace detail

COMCP_DECL std::unique_ptr<transport> make_sse_transport(client_settings with)
{
    return std::make_unique<detail::sse_transport>(std::move(with));
}

COMCP_DECL std::unique_ptr<transport> make_fallback_transport(client_settings with)
{
    return std::make_unique<detail::fallback_transport>(std::move(with));
}

} // namespace comcp::inline COMCP_ABI::http
