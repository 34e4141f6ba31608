// SPDX-License-Identifier: MIT
//
// Parking lots and their service: see detail/waiter.hpp.
#pragma once

#include <comcp/detail/waiter.hpp>

#include <memory>
#include <mutex>
#include <vector>

namespace comcp::inline COMCP_ABI::detail
{

COMCP_DECL std::shared_ptr<parking_lot> parking_service::make()
{
    auto lot = std::make_shared<parking_lot>();
    const std::lock_guard lock(mutex_);
    // Forgotten lots are swept here, so a program that makes sessions for years keeps only the live ones.
    if (lots_.size() >= sweep_at_) {
        std::erase_if(lots_, [](const std::weak_ptr<parking_lot>& known) { return known.expired(); });
        sweep_at_ = lots_.size() * 2 + 16;
    }
    lots_.push_back(lot);
    return lot;
}

COMCP_DECL void parking_service::shutdown()
{
    for (;;) {
        std::shared_ptr<parking_lot> lot; // kept alive: dropping a frame may destroy the lot's owner
        {
            const std::lock_guard lock(mutex_);
            if (lots_.empty()) return;
            lot = lots_.back().lock();
            lots_.pop_back();
        }
        if (lot) lot->drop_all();
    }
}

COMCP_DECL asio::execution_context& context_of(const executor& ex) { return asio::query(ex, asio::execution::context); }

COMCP_DECL std::shared_ptr<parking_lot> make_parking_lot(const executor& ex)
{
    return asio::use_service<parking_service>(context_of(ex)).make();
}

/// Nothing to clean up.
struct no_clean_up
{
    void operator()() const {}
};

COMCP_DECL asio::awaitable<void> waiter::wait() { return wait(no_clean_up()); }

} // namespace comcp::inline COMCP_ABI::detail
