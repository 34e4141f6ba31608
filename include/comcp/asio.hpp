// SPDX-License-Identifier: MIT
//
// The one door to Asio: the few headers that comcp needs (never <asio.hpp>, which costs half a second more), under the
// name `comcp::asio` for standalone Asio (the default) and, with COMCP_USE_BOOST_ASIO, for Boost.Asio.
#pragma once

#include <comcp/config.hpp>

#if defined(__clang__) && !defined(COMCP_USE_BOOST_ASIO)
// Asio 1.22 does not see coroutines under Clang with libstdc++ unless it is told.
#if !defined(ASIO_HAS_CO_AWAIT)
#define ASIO_HAS_CO_AWAIT 1
#endif
#if !defined(ASIO_HAS_STD_COROUTINE)
#define ASIO_HAS_STD_COROUTINE 1
#endif
#endif

#if defined(COMCP_USE_BOOST_ASIO)

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace comcp::inline COMCP_ABI
{
namespace asio = boost::asio;
using io_error_code = boost::system::error_code;
} // namespace comcp::inline COMCP_ABI

#else

#include <asio/any_io_executor.hpp>
#include <asio/awaitable.hpp>
#include <asio/bind_cancellation_slot.hpp>
#include <asio/bind_executor.hpp>
#include <asio/buffer.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/dispatch.hpp>
#include <asio/error.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/experimental/awaitable_operators.hpp>
#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/post.hpp>
#include <asio/redirect_error.hpp>
#include <asio/steady_timer.hpp>
#include <asio/strand.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>

namespace comcp::inline COMCP_ABI
{
namespace asio = ::asio;
using io_error_code = std::error_code;
} // namespace comcp::inline COMCP_ABI

#endif

namespace comcp::inline COMCP_ABI
{

/// Any executor: an `io_context`'s, or a strand where several threads run the context.
using executor = asio::any_io_executor;

} // namespace comcp::inline COMCP_ABI
