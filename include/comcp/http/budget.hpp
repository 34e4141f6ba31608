// SPDX-License-Identifier: MIT
//
// The memory that all clients of one service may make it hold: bodies that are read, output that waits. Counted, not
// allocated; safe for threads.
#pragma once

#include <comcp/config.hpp>

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

namespace comcp::inline COMCP_ABI::http
{

class budget
{
public:
    /// `limit` in bytes.
    explicit budget(std::size_t limit) : limit_(limit) {}
    budget(const budget&) = delete;
    budget& operator=(const budget&) = delete;

    std::size_t used() const noexcept { return used_.load(std::memory_order_relaxed); }
    /// Takes `bytes` if they fit.
    bool take(std::size_t bytes) noexcept
    {
        const std::size_t before = used_.fetch_add(bytes, std::memory_order_relaxed);
        if (bytes <= limit_ && before <= limit_ - bytes) return true;
        used_.fetch_sub(bytes, std::memory_order_relaxed);
        return false;
    }
    /// Takes `bytes` in any case: what must not fail (an answer) makes what may fail (a body) wait.
    void add(std::size_t bytes) noexcept { used_.fetch_add(bytes, std::memory_order_relaxed); }
    void give_back(std::size_t bytes) noexcept { used_.fetch_sub(bytes, std::memory_order_relaxed); }

private:
    std::size_t limit_;
    std::atomic<std::size_t> used_{0};
};

/// What one holder has taken; given back when it ends.
class budget_share
{
public:
    budget_share() = default;
    explicit budget_share(std::shared_ptr<budget> of) : budget_(std::move(of)) {}
    budget_share(budget_share&& other) noexcept
        : budget_(std::move(other.budget_)),
          bytes_(std::exchange(other.bytes_, 0))
    {}
    budget_share& operator=(budget_share&& other) noexcept
    {
        if (this == &other) return *this;
        release();
        budget_ = std::move(other.budget_);
        bytes_ = std::exchange(other.bytes_, 0);
        return *this;
    }
    ~budget_share() { release(); }

    /// Takes more, if that fits; without a budget everything does.
    bool grow(std::size_t bytes) noexcept
    {
        if (!budget_) return true;
        if (!budget_->take(bytes)) return false;
        bytes_ += bytes;
        return true;
    }
    /// Takes more in any case.
    void add(std::size_t bytes) noexcept
    {
        if (!budget_) return;
        budget_->add(bytes);
        bytes_ += bytes;
    }
    void shrink(std::size_t bytes) noexcept
    {
        if (!budget_) return;
        budget_->give_back(bytes);
        bytes_ -= bytes;
    }
    std::size_t bytes() const noexcept { return bytes_; }
    void release() noexcept
    {
        if (bytes_ != 0) budget_->give_back(std::exchange(bytes_, 0));
    }

private:
    std::shared_ptr<budget> budget_;
    std::size_t bytes_ = 0;
};

} // namespace comcp::inline COMCP_ABI::http
