// SPDX-License-Identifier: MIT
//
// Sessions over stdin and stdout: see transport/stdio.hpp.
#pragma once

#include <comcp/transport/stdio.hpp>
#include <comcp/transport/stream_transport.hpp>
#include <comcp/transport/taken_standard.hpp>

#include <memory>
#include <optional>
#include <utility>

namespace comcp::inline COMCP_ABI
{

namespace detail
{

class stdio_transport final : public stream_transport<asio::posix::stream_descriptor>
{
public:
    explicit stdio_transport(const limits& bounds) : stream_transport(bounds) {}
    ~stdio_transport() override { close(); }

    task<void> open() override
    {
        const comcp::executor ex = co_await asio::this_coro::executor;
        if (!standard_.take())
            throw error(fail(errc::not_found, "stdin, stdout and stderr must be open to serve on stdio"));
        input_.emplace(ex, standard_.input());
        output_.emplace(ex, standard_.output());
        output_->non_blocking(true);
        attach(*input_, *output_, ex);
    }

    task<void> finish() override { co_return; } // the host's exit ends the stream

    void close() noexcept override
    {
        detach();
        release();
    }
    void context_gone() noexcept override
    {
        detach();
        release();
    }

private:
    // Asio must not close what is given back by hand, flags first.
    void release()
    {
        if (input_) input_->release();
        if (output_) output_->release();
        input_.reset();
        output_.reset();
        standard_.give_back();
    }

    taken_standard standard_;
    std::optional<asio::posix::stream_descriptor> input_;
    std::optional<asio::posix::stream_descriptor> output_;
};

} // namespace detail

COMCP_DECL std::unique_ptr<transport> make_stdio_transport(const limits& bounds)
{
    return std::make_unique<detail::stdio_transport>(bounds);
}

} // namespace comcp::inline COMCP_ABI
