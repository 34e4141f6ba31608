// SPDX-License-Identifier: MIT
//
// Hooks for logs and metrics. An observer is any class with some of the members below; hooks it does not have cost one
// pointer compare. Not for changing what happens: an observer only looks, must not throw, and must not call back into
// the object that it observes.
//
//     void on_send(std::string_view text);                             one message, as it goes out
//     void on_receive(std::string_view text);                          one message, as it came in
//     void on_bad_message(std::string_view why, std::string_view text) what could not be used; `text` is cut
//     void on_dropped_notice(std::size_t count);                       notices that a slow host did not get
//     void on_late_answer(std::string_view id);                        an answer nobody waits for any more
//     void on_handler_failed(std::string_view id, std::string_view why) what a server's handler threw that no peer is
//     told void on_closed(const comcp::fault& why);                         the session ended
#pragma once

#include <comcp/result.hpp>

#include <concepts>
#include <cstddef>
#include <string_view>

namespace comcp::inline COMCP_ABI
{

/// The default: no hooks.
struct null_observer
{};

namespace detail
{

struct observer_table
{
    void (*send)(void*, std::string_view) = nullptr;
    void (*receive)(void*, std::string_view) = nullptr;
    void (*bad_message)(void*, std::string_view, std::string_view) = nullptr;
    void (*dropped_notice)(void*, std::size_t) = nullptr;
    void (*late_answer)(void*, std::string_view) = nullptr;
    void (*handler_failed)(void*, std::string_view, std::string_view) = nullptr;
    void (*closed)(void*, const fault&) = nullptr;
};

// A hook that exists with other parameters is a mistake, not an absent hook.
template <class Observer>
constexpr observer_table make_observer_table()
{
    observer_table t;
    if constexpr (requires(Observer& o, std::string_view text) { o.on_send(text); }) {
        t.send = [](void* o, std::string_view text) { static_cast<Observer*>(o)->on_send(text); };
    } else {
        static_assert(!requires { &Observer::on_send; }, "observer: on_send takes (std::string_view)");
    }
    if constexpr (requires(Observer& o, std::string_view text) { o.on_receive(text); }) {
        t.receive = [](void* o, std::string_view text) { static_cast<Observer*>(o)->on_receive(text); };
    } else {
        static_assert(!requires { &Observer::on_receive; }, "observer: on_receive takes (std::string_view)");
    }
    if constexpr (requires(Observer& o, std::string_view text) { o.on_bad_message(text, text); }) {
        t.bad_message = [](void* o, std::string_view why, std::string_view text) {
            static_cast<Observer*>(o)->on_bad_message(why, text);
        };
    } else {
        static_assert(
            !requires { &Observer::on_bad_message; },
            "observer: on_bad_message takes (std::string_view why, std::string_view text)");
    }
    if constexpr (requires(Observer& o, std::size_t count) { o.on_dropped_notice(count); }) {
        t.dropped_notice = [](void* o, std::size_t count) { static_cast<Observer*>(o)->on_dropped_notice(count); };
    } else {
        static_assert(!requires { &Observer::on_dropped_notice; }, "observer: on_dropped_notice takes (std::size_t)");
    }
    if constexpr (requires(Observer& o, std::string_view id) { o.on_late_answer(id); }) {
        t.late_answer = [](void* o, std::string_view id) { static_cast<Observer*>(o)->on_late_answer(id); };
    } else {
        static_assert(!requires { &Observer::on_late_answer; }, "observer: on_late_answer takes (std::string_view id)");
    }
    if constexpr (requires(Observer& o, std::string_view text) { o.on_handler_failed(text, text); }) {
        t.handler_failed = [](void* o, std::string_view id, std::string_view why) {
            static_cast<Observer*>(o)->on_handler_failed(id, why);
        };
    } else {
        static_assert(
            !requires { &Observer::on_handler_failed; },
            "observer: on_handler_failed takes (std::string_view id, std::string_view why)");
    }
    if constexpr (requires(Observer& o, const fault& why) { o.on_closed(why); }) {
        t.closed = [](void* o, const fault& why) { static_cast<Observer*>(o)->on_closed(why); };
    } else {
        static_assert(!requires { &Observer::on_closed; }, "observer: on_closed takes (const comcp::fault&)");
    }
    return t;
}

template <class Observer>
inline constexpr observer_table observer_table_of = make_observer_table<Observer>();

} // namespace detail

/// An observer of any class, not owned: a table of function pointers in which an absent hook is null.
class observer_ref
{
public:
    /// Observes nothing.
    observer_ref() noexcept : table_(&detail::observer_table_of<null_observer>) {}

    /// The observer must live as long as what it observes.
    template <class Observer>
        requires(!std::same_as<Observer, observer_ref>)
    explicit observer_ref(Observer& observer) noexcept
        : table_(&detail::observer_table_of<Observer>),
          object_(&observer)
    {}

    void send(std::string_view text) const
    {
        if (table_->send) table_->send(object_, text);
    }
    void receive(std::string_view text) const
    {
        if (table_->receive) table_->receive(object_, text);
    }
    void bad_message(std::string_view why, std::string_view text) const
    {
        if (table_->bad_message) table_->bad_message(object_, why, text);
    }
    void dropped_notice(std::size_t count) const
    {
        if (table_->dropped_notice) table_->dropped_notice(object_, count);
    }
    void late_answer(std::string_view id) const
    {
        if (table_->late_answer) table_->late_answer(object_, id);
    }
    void handler_failed(std::string_view id, std::string_view why) const
    {
        if (table_->handler_failed) table_->handler_failed(object_, id, why);
    }
    void closed(const fault& why) const
    {
        if (table_->closed) table_->closed(object_, why);
    }

    /// Whether there is a hook at all, for callers that must prepare its text first.
    bool wants_bad_message() const noexcept { return table_->bad_message != nullptr; }
    bool wants_late_answer() const noexcept { return table_->late_answer != nullptr; }

private:
    const detail::observer_table* table_;
    void* object_ = nullptr;
};

} // namespace comcp::inline COMCP_ABI
