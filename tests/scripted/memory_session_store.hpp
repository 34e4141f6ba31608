// SPDX-License-Identifier: MIT
//
// A session store in memory, shared by the services of one test as a database is by processes. It can be slow, and can
// fail.
#pragma once

#include <comcp/server/session_store.hpp>
#include <comcp/timer.hpp>

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace script
{

class memory_session_store final : public comcp::session_store
{
public:
    struct entry
    {
        std::string owner;
        std::string record;
        std::map<std::string, comcp::stored_stream> streams;
    };

    std::map<std::string, entry> sessions;
    comcp::duration delay{};
    bool fails = false; // after the delay
    bool deaf = false;  // to its cancellation: what was begun takes effect, however late
    std::string poison; // changes that cannot be kept have this text
    int loads = 0;
    int saves = 0;
    int appends = 0;
    int most_at_once = 0; // operations of one session, but for loads

    comcp::task<std::optional<std::string>> load(std::string session) override
    {
        co_await arrive(&loads);
        const std::lock_guard lock(mutex_);
        const auto at = sessions.find(session);
        if (at == sessions.end()) co_return std::nullopt;
        co_return at->second.record;
    }

    comcp::task<void> save(std::string session, std::string owner, std::string record, comcp::session_save how) override
    {
        const one_at_once counted(*this, session);
        co_await arrive(&saves);
        const std::lock_guard lock(mutex_);
        const auto at = sessions.find(session);
        if (how == comcp::session_save::renew && at != sessions.end() && at->second.owner != owner) co_return;
        sessions[session].owner = std::move(owner);
        sessions[session].record = std::move(record);
    }

    comcp::task<void> erase(std::string session, std::string owner) override
    {
        const one_at_once counted(*this, session);
        co_await arrive();
        const std::lock_guard lock(mutex_);
        const auto at = sessions.find(session);
        if (at != sessions.end() && (owner.empty() || at->second.owner == owner)) sessions.erase(at);
    }

    comcp::task<void> append(std::string session, std::vector<comcp::http::stream_change> changes) override
    {
        const one_at_once counted(*this, session);
        co_await arrive(&appends);
        const std::lock_guard lock(mutex_);
        const auto at = sessions.find(session);
        if (at == sessions.end()) co_return;
        for (comcp::http::stream_change& each : changes) {
            if (!poison.empty() && each.text.find(poison) != each.text.npos)
                throw std::runtime_error("the store cannot keep this");
            using kind = comcp::http::stream_change::kind;
            auto& streams = at->second.streams;
            if (each.what == kind::dropped) streams.erase(each.stream);
            else if (each.what == kind::opened || streams.contains(each.stream))
                streams[each.stream].apply(std::move(each));
        }
    }

    comcp::task<std::optional<comcp::stored_stream>> load_stream(std::string session, std::string stream) override
    {
        co_await arrive();
        const std::lock_guard lock(mutex_);
        const auto at = sessions.find(session);
        if (at == sessions.end() || !at->second.streams.contains(stream)) co_return std::nullopt;
        co_return at->second.streams.at(stream);
    }

private:
    class one_at_once
    {
    public:
        one_at_once(memory_session_store& in, std::string of) : store_(&in), of_(std::move(of))
        {
            const std::lock_guard lock(store_->mutex_);
            store_->most_at_once = std::max(store_->most_at_once, ++store_->running_[of_]);
        }
        one_at_once(const one_at_once&) = delete;
        ~one_at_once()
        {
            const std::lock_guard lock(store_->mutex_);
            --store_->running_[of_];
        }

    private:
        memory_session_store* store_;
        std::string of_;
    };

    comcp::task<void> arrive(int* count = nullptr)
    {
        if (count) {
            const std::lock_guard lock(mutex_);
            ++*count;
        }
        if (deaf) {
            const auto nothing = comcp::asio::disable_cancellation();
            co_await comcp::asio::this_coro::reset_cancellation_state(nothing);
        }
        comcp::timer timer(co_await comcp::asio::this_coro::executor);
        if (delay > comcp::duration::zero()) co_await timer.wait_for(delay);
        if (fails) throw std::runtime_error("the store is down");
    }

    std::mutex mutex_;
    std::map<std::string, int> running_;
};

} // namespace script
