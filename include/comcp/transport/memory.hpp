// SPDX-License-Identifier: MIT
//
// A transport without descriptors, for tests and for a client and a server in one process. Its other end is either a
// second memory transport (`memory_pipe`) or a script in a test's hand (`memory_peer`), which sees every message,
// delivers any event, and can stop reading.
#pragma once

#include <comcp/asio.hpp>
#include <comcp/detail/waiter.hpp>
#include <comcp/transport/concept.hpp>

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace comcp::inline COMCP_ABI
{

namespace detail
{

/// An event with the memory that its views need.
struct stored_event
{
    transport_event event;
    std::string text;
    message_facts facts;
};

struct sent_message
{
    std::string text;
    send_hint hint;
};

} // namespace detail

/// What a session decided about an exchange, in order.
struct exchange_verdict
{
    enum class kind {
        completed,
        abandoned,
        resumed, ///< asked whether it can be; the script says yes with `memory_peer::resumable`
    };

    exchange_id exchange = pipe_exchange;
    kind what = kind::completed;

    friend bool operator==(const exchange_verdict&, const exchange_verdict&) = default;
};

namespace detail
{

/// What both sides of one memory transport see. Thread rule: its executor. It may outlive the execution context.
struct memory_end final : private parked
{
    explicit memory_end(comcp::executor ex) : executor(std::move(ex)), lot(make_parking_lot(executor)), arrived(*lot)
    {
        lot->link(*this);
    }
    ~memory_end() { context_gone(); }

    void context_gone()
    {
        if (!executor) return;
        lot->unlink(*this);
        drop();
    }

    void deliver(stored_event item)
    {
        inbox.push_back(std::move(item));
        wake();
    }
    /// The receiver is woken by a post: two sessions never run inside each other.
    void wake()
    {
        if (!executor) return;
        asio::post(executor, [weak = self] {
            if (auto end = weak.lock()) end->arrived.complete();
        });
    }

    comcp::executor executor;
    std::shared_ptr<parking_lot> lot;
    waiter arrived;
    std::weak_ptr<memory_end> self;
    std::deque<stored_event> inbox;  // for the session
    send_hint taken;                 // of the last message that the script took
    std::deque<sent_message> outbox; // written by it and seen by the script
    std::weak_ptr<memory_end> other; // or handed to the other session
    transport* writer = nullptr;     // while it lives
    std::vector<exchange_verdict> verdicts;
    std::string negotiated;
    bool listening = false;
    bool resumable = false;
    bool peer_reads = true;
    bool closed = false;
    bool finished = false;
    bool opened = false;

private:
    void drop() override { executor = comcp::executor(); }
};

inline std::shared_ptr<memory_end> make_memory_end(const comcp::executor& ex)
{
    auto end = std::make_shared<memory_end>(ex);
    end->self = end;
    return end;
}

class memory_transport final : public transport
{
public:
    explicit memory_transport(std::shared_ptr<memory_end> end) : end_(std::move(end)) { end_->writer = this; }
    ~memory_transport() override
    {
        close();
        end_->writer = nullptr;
    }

    task<void> open() override
    {
        end_->opened = true;
        co_return;
    }

    task<void> receive(transport_batch& batch) override
    {
        batch.clear();
        handed_.clear();
        flush();
        const auto end = end_;
        while (end->inbox.empty() && !end->closed) co_await end->arrived.wait();
        if (end->inbox.empty()) {
            batch.emplace_back().what = transport_event::kind::closed;
            co_return;
        }
        std::swap(handed_, end->inbox);
        for (stored_event& item : handed_) {
            item.event.text = item.text;
            item.event.facts = &item.facts;
            batch.push_back(item.event);
        }
    }

    std::string& begin(const send_hint& hint) override
    {
        building_.hint = hint;
        building_.text.clear();
        return building_.text;
    }
    void commit() override
    {
        queued_bytes_ += building_.text.size();
        queue_.push_back(std::move(building_));
        building_ = sent_message();
        if (end_->peer_reads) flush();
    }
    void flush() override
    {
        if (!end_->peer_reads || queue_.empty()) return;
        while (!queue_.empty()) {
            sent_message next = std::move(queue_.front());
            queue_.pop_front();
            queued_bytes_ -= next.text.size();
            written_ += next.text.size();
            if (auto other = end_->other.lock()) {
                stored_event item;
                item.event.exchange = next.hint.exchange;
                item.text = std::move(next.text);
                other->deliver(std::move(item));
            } else {
                end_->outbox.push_back(std::move(next));
            }
        }
        if (drained_) drained_(drained_argument_);
    }

    std::size_t queued() const override { return queued_bytes_; }
    std::uint64_t written() const override { return written_; }
    std::error_code write_error() const override { return {}; }
    void on_drained(void (*call)(void*), void* argument) override
    {
        drained_ = call;
        drained_argument_ = argument;
    }
    void abandon(exchange_id exchange) override { judge(exchange, exchange_verdict::kind::abandoned); }
    void complete(exchange_id exchange) override { judge(exchange, exchange_verdict::kind::completed); }
    bool resume(exchange_id exchange) override
    {
        judge(exchange, exchange_verdict::kind::resumed);
        return end_->resumable;
    }
    void negotiated(std::string_view version) override { end_->negotiated = version; }
    void listen() override { end_->listening = true; }

    task<void> finish() override
    {
        end_->finished = true;
        hang_up();
        co_return;
    }
    void close() noexcept override
    {
        if (end_->closed) return;
        end_->closed = true;
        drained_ = nullptr;
        hang_up();
        end_->wake();
    }
    void context_gone() noexcept override
    {
        end_->context_gone();
        drained_ = nullptr;
    }

private:
    // Kept for a script; nobody asks in a pipe between two sessions.
    void judge(exchange_id exchange, exchange_verdict::kind what)
    {
        if (end_->other.expired()) end_->verdicts.push_back({exchange, what});
    }

    void hang_up()
    {
        const auto other = end_->other.lock();
        if (!other || other->closed) return;
        stored_event item;
        item.event.what = transport_event::kind::closed;
        other->deliver(std::move(item));
        end_->other.reset();
    }

    std::shared_ptr<memory_end> end_;
    std::deque<stored_event> handed_;
    std::deque<sent_message> queue_;
    sent_message building_;
    std::size_t queued_bytes_ = 0;
    std::uint64_t written_ = 0;
    void (*drained_)(void*) = nullptr;
    void* drained_argument_ = nullptr;
};

} // namespace detail

/// Two transports that are each other's peer, on one executor.
struct memory_pipe
{
    explicit memory_pipe(const executor& ex)
    {
        auto left = detail::make_memory_end(ex);
        auto right = detail::make_memory_end(ex);
        left->other = right;
        right->other = left;
        first = std::make_unique<detail::memory_transport>(std::move(left));
        second = std::make_unique<detail::memory_transport>(std::move(right));
    }

    std::unique_ptr<transport> first;
    std::unique_ptr<transport> second;
};

/// The script's end of a memory transport. It may outlive the session and the context.
class memory_peer
{
public:
    explicit memory_peer(const executor& ex) : end_(detail::make_memory_end(ex)) {}

    /// The session's end; taken once.
    std::unique_ptr<transport> take_transport() { return std::make_unique<detail::memory_transport>(end_); }

    /// Delivers one message to the session.
    void send(std::string text, exchange_id exchange = pipe_exchange, message_facts facts = {})
    {
        detail::stored_event item;
        item.event.exchange = exchange;
        item.text = std::move(text);
        item.facts = std::move(facts);
        end_->deliver(std::move(item));
    }
    /// Delivers any other event.
    void send(transport_event event)
    {
        detail::stored_event item;
        item.event = std::move(event);
        item.text = std::string(item.event.text);
        end_->deliver(std::move(item));
    }
    /// The peer ends the connection; with a text, as a failure.
    void hang_up(std::string why = {})
    {
        transport_event event;
        event.what = transport_event::kind::closed;
        if (!why.empty()) event.why = fault(errc::peer_gone, std::move(why));
        send(std::move(event));
    }

    bool has_message() const { return !end_->outbox.empty(); }
    std::size_t messages() const { return end_->outbox.size(); }
    /// The oldest message that the session wrote; empty when there is none.
    std::string take()
    {
        if (end_->outbox.empty()) return {};
        std::string text = std::move(end_->outbox.front().text);
        end_->taken = end_->outbox.front().hint;
        end_->outbox.pop_front();
        return text;
    }
    /// Where the last message that was taken belongs.
    const send_hint& hint() const { return end_->taken; }
    /// What the session decided about exchanges since this was asked last.
    std::vector<exchange_verdict> verdicts() { return std::exchange(end_->verdicts, {}); }
    /// Whether an exchange that was closed without an answer can be resumed.
    void resumable(bool value) { end_->resumable = value; }
    const std::string& negotiated() const { return end_->negotiated; }
    bool listening() const { return end_->listening; }
    /// A peer that does not read leaves the session's output queued; one that reads again takes all of it.
    void reads(bool value)
    {
        end_->peer_reads = value;
        if (!value || !end_->executor) return;
        asio::post(end_->executor, [weak = std::weak_ptr(end_)] {
            const auto end = weak.lock();
            if (end && end->writer) end->writer->flush();
        });
    }
    bool opened() const { return end_->opened; }
    /// The session finished its output in order.
    bool finished() const { return end_->finished; }
    /// The session closed the transport.
    bool closed() const { return end_->closed; }

private:
    std::shared_ptr<detail::memory_end> end_;
};

} // namespace comcp::inline COMCP_ABI
