// SPDX-License-Identifier: MIT
//
// The transport in front of the hub.
#pragma once

#include <comcp/http/client_head.hpp>
#include <comcp/http/client_hub.hpp>
#include <comcp/http/client_transport.hpp>

#include <comcp/error.hpp>

#include <memory>
#include <utility>

namespace comcp::inline COMCP_ABI::http
{

namespace detail
{

class client_transport final : public transport
{
public:
    explicit client_transport(client_settings with) : with_(std::move(with)) {}
    ~client_transport() override { close(); }

    task<void> open() override
    {
        if (result<void> bad = choose_door(with_); !bad) throw error(std::move(bad).error());
        const comcp::executor ex = co_await asio::this_coro::executor;
        hub_ = std::make_shared<client_hub>(ex, with_);
    }

    task<void> receive(transport_batch& batch) override { return client_hub::receive(hub_, batch); }
    std::string& begin(const send_hint& hint) override { return hub_->begin(hint); }
    void commit() override { hub_->commit(); }
    void flush() override {}

    // Each message has a stream of its own, and a limit of its own: none of them stalls the session.
    std::size_t queued() const override { return 0; }
    std::uint64_t written() const override { return 0; }
    std::error_code write_error() const override { return {}; }
    void on_drained(void (*)(void*), void*) override {}

    void abandon(exchange_id exchange) override { hub_->abandon(exchange); }
    void complete(exchange_id exchange) override { hub_->complete(exchange); }
    bool resume(exchange_id exchange) override { return hub_->resume(exchange); }
    void negotiated(std::string_view version) override { hub_->negotiated(version); }
    void listen() override { hub_->listen(); }

    task<void> finish() override { return client_hub::finish(hub_); }
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
    std::shared_ptr<client_hub> hub_;
};

} // namespace detail

COMCP_DECL std::unique_ptr<transport> make_client_transport(client_settings with)
{
    return std::make_unique<detail::client_transport>(std::move(with));
}

} // namespace comcp::inline COMCP_ABI::http
