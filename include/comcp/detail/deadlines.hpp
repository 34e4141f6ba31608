// SPDX-License-Identifier: MIT
//
// All deadlines of one owner (a session, a connection) on one timer. They use few distinct timeouts, so there is a list
// for each timeout value, in order of time by construction: setting and clearing a deadline is a link and an unlink,
// and nothing stale is kept.
#pragma once

#include <comcp/timer.hpp>

#include <memory>
#include <utility>
#include <vector>

namespace comcp::inline COMCP_ABI::detail
{

class deadline_queue;

/// One deadline, embedded in what it bounds. Clears itself when destroyed.
class deadline
{
public:
    deadline() = default;
    deadline(const deadline&) = delete;
    deadline& operator=(const deadline&) = delete;
    virtual ~deadline() { clear(); }

    bool set() const { return list_ != nullptr; }
    inline void clear();

protected:
    /// Called on the owner's executor once the time has passed; the deadline is clear by then.
    virtual void expired() = 0;

private:
    friend class deadline_queue;
    struct list
    {
        duration after;
        deadline* head = nullptr;
        deadline* tail = nullptr;
    };

    list* list_ = nullptr;
    deadline* previous_ = nullptr;
    deadline* next_ = nullptr;
    time_point at_{};
};

/// A deadline that calls a function of its owner.
template <class Owner, void (Owner::*Expired)()>
class owned_deadline final : public deadline
{
public:
    explicit owned_deadline(Owner& owner) : owner_(owner) {}

private:
    void expired() override { (owner_.*Expired)(); }
    Owner& owner_;
};

/// Must outlive no deadline that is set in it: an owner declares it before what uses it.
class deadline_queue
{
public:
    explicit deadline_queue(executor ex) : timer_(std::move(ex)) {}
    deadline_queue(const deadline_queue&) = delete;
    deadline_queue& operator=(const deadline_queue&) = delete;
    ~deadline_queue()
    {
        for (const auto& each : lists_)
            while (each->head) each->head->clear();
    }

    time_point now() const { return timer_.now(); }

    /// Sets `what` to expire `after` from `now`; `no_limit` clears it.
    void set(deadline& what, duration after, time_point now)
    {
        what.clear();
        if (after == no_limit) return;
        deadline::list& in = list_of(after);
        what.at_ = deadline_after(now, after);
        what.list_ = &in;
        what.previous_ = in.tail;
        what.next_ = nullptr;
        (in.tail ? in.tail->next_ : in.head) = &what;
        in.tail = &what;
        if (what.at_ < armed_) arm(what.at_);
    }

private:
    deadline::list& list_of(duration after)
    {
        deadline::list* unused = nullptr;
        for (const auto& each : lists_) {
            if (each->after == after) return *each;
            if (!each->head) unused = each.get();
        }
        if (!unused) unused = lists_.emplace_back(std::make_unique<deadline::list>()).get();
        unused->after = after;
        return *unused;
    }

    void arm(time_point at)
    {
        armed_ = at;
        timer_.start(at, [this] { fire(); }); // the timer dies with the queue, and its callback with it
    }

    void fire()
    {
        armed_ = time_point::max();
        const time_point now = timer_.now();
        const std::shared_ptr<bool> alive = alive_; // an expiry may destroy the owner of the queue
        for (std::size_t i = 0; i < lists_.size(); ++i) {
            while (lists_[i]->head && lists_[i]->head->at_ <= now) {
                deadline& due = *lists_[i]->head;
                due.clear();
                due.expired();
                if (!*alive) return;
            }
        }
        time_point next = time_point::max();
        for (const auto& each : lists_)
            if (each->head && each->head->at_ < next) next = each->head->at_;
        // The timer is never moved when a deadline is cleared; it fires early once instead.
        if (next < armed_) arm(next);
    }

    struct life
    {
        std::shared_ptr<bool> flag = std::make_shared<bool>(true);
        ~life() { *flag = false; }
    };

    std::vector<std::unique_ptr<deadline::list>> lists_;
    time_point armed_ = time_point::max();
    life life_;
    std::shared_ptr<bool> alive_ = life_.flag;
    timer timer_;
};

inline void deadline::clear()
{
    if (!list_) return;
    (previous_ ? previous_->next_ : list_->head) = next_;
    (next_ ? next_->previous_ : list_->tail) = previous_;
    list_ = nullptr;
    previous_ = next_ = nullptr;
}

} // namespace comcp::inline COMCP_ABI::detail
