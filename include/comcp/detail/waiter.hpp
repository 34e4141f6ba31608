// SPDX-License-Identifier: MIT
//
// One coroutine waiting for one event, at the price of a pointer swap: the handler that Asio makes for the suspended
// coroutine is kept in the waiter itself (usually in the waiting frame), without an allocation.
//
// A frame whose handler stands in that very frame would own itself and leak when the io_context dies first. So every
// waiter that waits is linked into a parking lot, and the execution context drops what is parked when it shuts down.
#pragma once

#include <comcp/asio.hpp>

#include <concepts>
#include <cstddef>
#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

namespace comcp::inline COMCP_ABI::detail
{

/// A link of a parking lot: a suspended coroutine, or an object that holds timers, descriptors or executors of the
/// context and must let go of them (`drop`) before the context is gone. Not copyable, not movable: the list points at
/// it.
class parked
{
public:
    parked() = default;
    parked(const parked&) = delete;
    parked& operator=(const parked&) = delete;

protected:
    ~parked() = default;

private:
    friend class parking_lot;
    virtual void drop() = 0;
    parked* previous_ = nullptr;
    parked* next_ = nullptr;
};

/// The parked handlers of one owner (a session, a child), all on one executor, therefore without a lock.
class parking_lot
{
public:
    void link(parked& node)
    {
        node.previous_ = nullptr;
        node.next_ = head_;
        if (head_) head_->previous_ = &node;
        head_ = &node;
    }

    void unlink(parked& node)
    {
        (node.previous_ ? node.previous_->next_ : head_) = node.next_;
        if (node.next_) node.next_->previous_ = node.previous_;
        node.previous_ = node.next_ = nullptr;
    }

    /// Drops everything, the newest first: suspended coroutines are destroyed, not resumed.
    void drop_all()
    {
        while (head_) {
            parked* node = head_;
            unlink(*node);
            node->drop();
        }
    }

private:
    parked* head_ = nullptr;
};

/// Knows every parking lot of an execution context and empties them when the context shuts down.
class parking_service final : public asio::execution_context::service
{
public:
    using key_type = parking_service;
    static inline asio::execution_context::id id;

    explicit parking_service(asio::execution_context& context) : asio::execution_context::service(context) {}

    std::shared_ptr<parking_lot> make();

private:
    void shutdown() override;

    std::mutex mutex_;
    std::vector<std::weak_ptr<parking_lot>> lots_;
    std::size_t sweep_at_ = 16;
};

asio::execution_context& context_of(const executor& ex);

std::shared_ptr<parking_lot> make_parking_lot(const executor& ex);

/// Waits for one event at a time. `complete()` resumes the coroutine in place, so it is called from the waiter's own
/// executor and never from inside a cancellation handler.
class waiter final : private parked
{
public:
    explicit waiter(parking_lot& lot) : lot_(lot) {}

    ~waiter()
    {
        if (run_) {
            lot_.unlink(*this);
            drop();
        }
    }

    bool waiting() const { return run_ != nullptr; }

    /// Suspends until `complete()`. When the caller is cancelled, `on_cancel` runs at once, inside the cancellation: it
    /// may only do synchronous clean-up, and captures only pointers and integers. The coroutine is then resumed by a
    /// post, and its cancellation state tells what happened.
    template <class OnCancel>
    asio::awaitable<void> wait(OnCancel on_cancel)
    {
        return asio::async_initiate<const asio::use_awaitable_t<>, void()>(
            [self = this](auto handler, OnCancel clean_up) { self->park(std::move(handler), clean_up); },
            asio::use_awaitable, on_cancel);
    }

    asio::awaitable<void> wait();

    /// The same, but the coroutine waits on for `complete()`, which what `on_cancel` begins leads to: it must not
    /// complete in place.
    template <class OnCancel>
    asio::awaitable<void> wait_through(OnCancel on_cancel)
    {
        return wait(staying<OnCancel>{on_cancel});
    }

    /// The same for a wait that only its owner ends: a cancellation of the caller changes nothing.
    asio::awaitable<void> wait_uncancelled() { return wait(never()); }

    /// Resumes the coroutine now. Does nothing when nobody waits.
    void complete()
    {
        if (!run_) return;
        lot_.unlink(*this);
        std::exchange(run_, nullptr)(*this);
    }

private:
    struct never
    {};
    template <class OnCancel>
    struct staying
    {
        OnCancel clean_up;
        void operator()() const { clean_up(); }
        static constexpr bool stays = true;
    };

    template <class Handler>
    Handler take()
    {
        auto* stored = std::launder(reinterpret_cast<Handler*>(store_));
        Handler handler(std::move(*stored));
        stored->~Handler();
        return handler;
    }

    template <class Handler, class OnCancel>
    void park(Handler&& given, OnCancel on_cancel)
    {
        using handler = std::decay_t<Handler>;
        static_assert(sizeof(handler) <= sizeof store_, "comcp: this Asio's coroutine handler is larger than expected");
        auto slot = asio::get_associated_cancellation_slot(given);
        new (store_) handler(std::move(given));
        run_ = [](waiter& self) {
            handler resumed = self.take<handler>();
            std::move(resumed)();
        };
        drop_ = [](waiter& self) { handler dropped = self.take<handler>(); };
        lot_.link(*this);
        if constexpr (std::same_as<OnCancel, never>) return;
        else if (slot.is_connected())
            slot.assign([this, on_cancel](asio::cancellation_type type) mutable {
                if (!run_ || type == asio::cancellation_type::none) return;
                on_cancel();
                if (!run_ || requires { OnCancel::stays; }) return;
                lot_.unlink(*this);
                run_ = nullptr;
                handler resumed = take<handler>();
                // Never resumed in place: the resumed coroutine would destroy this very slot handler.
                auto ex = asio::get_associated_executor(resumed);
                asio::post(ex, [resumed = std::move(resumed)]() mutable { std::move(resumed)(); });
            });
    }

    void drop() override
    {
        run_ = nullptr;
        drop_(*this);
    }

    parking_lot& lot_;
    void (*run_)(waiter&) = nullptr;
    void (*drop_)(waiter&) = nullptr;
    alignas(std::max_align_t) unsigned char store_[4 * sizeof(void*)];
};

} // namespace comcp::inline COMCP_ABI::detail

#if !defined(COMCP_SEPARATE)
#include <comcp/detail/impl/waiter.ipp>
#endif
