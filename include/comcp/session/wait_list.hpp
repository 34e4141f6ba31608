// SPDX-License-Identifier: MIT
//
// Several coroutines waiting for one condition, first come first served: room in the output, the end of a session.
#pragma once

#include <comcp/detail/waiter.hpp>

#include <cstddef>

namespace comcp::inline COMCP_ABI::detail
{

class wait_list
{
public:
    explicit wait_list(parking_lot& lot) : lot_(lot) {}
    wait_list(const wait_list&) = delete;
    wait_list& operator=(const wait_list&) = delete;

    bool empty() const { return head_ == nullptr; }

    /// Suspends until woken (or cancelled). The condition is to be tested again afterwards.
    asio::awaitable<void> wait()
    {
        entry self(*this);
        co_await self.event.wait();
    }

    /// Wakes the first that waits, in place.
    void wake_one()
    {
        if (!head_) return;
        entry& first = *head_;
        first.unlink();
        first.event.complete();
    }

    /// Wakes all that wait now; one that waits again because of it is not woken twice.
    void wake_all()
    {
        std::size_t count = 0;
        for (const entry* each = head_; each; each = each->next) ++count;
        for (; count != 0 && head_; --count) wake_one();
    }

private:
    struct entry
    {
        explicit entry(wait_list& in) : list(&in), event(in.lot_)
        {
            previous = in.tail_;
            (in.tail_ ? in.tail_->next : in.head_) = this;
            in.tail_ = this;
        }
        ~entry() { unlink(); }
        void unlink()
        {
            if (!list) return;
            (previous ? previous->next : list->head_) = next;
            (next ? next->previous : list->tail_) = previous;
            list = nullptr;
        }

        wait_list* list;
        entry* previous = nullptr;
        entry* next = nullptr;
        waiter event;
    };

    parking_lot& lot_;
    entry* head_ = nullptr;
    entry* tail_ = nullptr;
};

/// What a timer does to those that wait with patience. Stands beside what it refers to, in the frame that waits.
class patience_ended
{
public:
    patience_ended(bool& late, wait_list& waiting) : late_(&late), waiting_(&waiting) {}
    void operator()() const
    {
        *late_ = true;
        waiting_->wake_all();
    }

private:
    bool* late_;
    wait_list* waiting_;
};

} // namespace comcp::inline COMCP_ABI::detail
