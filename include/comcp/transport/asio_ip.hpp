// SPDX-License-Identifier: MIT
//
// The part of Asio that knows addresses and sockets; apart from asio.hpp, since stdio does not pay for it.
#pragma once

#include <comcp/asio.hpp>

#if defined(COMCP_USE_BOOST_ASIO)
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/v6_only.hpp>
#else
#include <asio/ip/tcp.hpp>
#include <asio/ip/v6_only.hpp>
#endif
