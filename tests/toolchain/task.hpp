// SPDX-License-Identifier: MIT
// The smallest coroutine for the programs of this folder, which show bugs of compilers and need no library for that.
#pragma once

#include <coroutine>
#include <cstdio>
#include <exception>
#include <utility>

namespace toolchain
{

/// Starts when `run` is called. An exception ends it and is kept.
class task
{
public:
    struct promise_type
    {
        task get_return_object() { return task(std::coroutine_handle<promise_type>::from_promise(*this)); }
        std::suspend_always initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() { failure = std::current_exception(); }

        std::exception_ptr failure;
    };

    explicit task(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
    task(task&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
    task& operator=(task&&) = delete;
    ~task()
    {
        if (handle_) handle_.destroy();
    }

    /// True if it came to its end without an exception.
    bool run()
    {
        while (!handle_.done()) handle_.resume();
        return handle_.promise().failure == nullptr;
    }

private:
    std::coroutine_handle<promise_type> handle_;
};

/// Suspends once, then gives the value.
class answer
{
public:
    explicit answer(bool value) : value_(value) {}
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<>) const noexcept {}
    bool await_resume() const noexcept { return value_; }

private:
    bool value_;
};

/// Counts what is asserted; `end` is the exit code of the program.
class checks
{
public:
    void that(bool holds, const char* what)
    {
        if (holds) return;
        std::printf("FAILED: %s\n", what);
        ++failed_;
    }

    void report(const char* what, bool bug) { std::printf("%s: %s\n", what, bug ? "BUG in this compiler" : "right"); }

    int end() const { return failed_ == 0 ? 0 : 1; }

private:
    int failed_ = 0;
};

} // namespace toolchain
