// SPDX-License-Identifier: MIT
// Every default as it is promised: whoever changes one changes what a host relies on, and the pages that say so.
#include <comcp/http/client_settings.hpp>
#include <comcp/http/service_limits.hpp>
#include <comcp/limits.hpp>

#include "catch.hpp"

using namespace std::chrono_literals;

namespace
{

template <class... Fields>
constexpr std::size_t together(const Fields&...)
{
    return (sizeof(Fields) + ...);
}

} // namespace

TEST_CASE("The limits of a session are these by default")
{
    const comcp::limits most;
    CHECK(most.message == 16'777'216);
    CHECK(most.depth == 64);
    CHECK(most.in_flight == 256);
    CHECK(most.held_requests == 67'108'864);
    CHECK(most.stream_buffer == 4'194'304);
    CHECK(most.write_stall == 30s);
    CHECK(most.close == 10s);
    CHECK(most.server_request == 60s);
    CHECK(most.pages == 1'000);
    CHECK(most.items == 10'000);
    CHECK(most.list_bytes == 67'108'864);
    CHECK(most.subscriptions == 1'000);
    CHECK(most.notices == 256);
    // These are all: a row that is new is promised here too.
    CHECK(sizeof most == together(most.message, most.depth, most.in_flight, most.held_requests, most.stream_buffer,
                                  most.write_stall, most.close, most.server_request, most.pages, most.items,
                                  most.list_bytes, most.subscriptions, most.notices));
    CHECK(comcp::no_limit == comcp::duration::max());
}

TEST_CASE("The limits of an HTTP service are these by default")
{
    const comcp::http_service_limits most;
    CHECK(most.head.line == 8'192);
    CHECK(most.head.fields == 65'536);
    CHECK(most.head.field_count == 100);
    CHECK(most.connections == 4'096);
    CHECK(most.sessions == 4'096);
    CHECK(most.streams == 4'096);
    CHECK(most.memory == 268'435'456);
    CHECK(most.stored_events == 1'000);
    CHECK(most.stored_bytes == 4'194'304);
    CHECK(most.session_idle == 30min);
    CHECK(most.store_time == 5s);
    CHECK(most.keep_alive == 15s);
    CHECK(most.connection_idle == 60s);
    CHECK(most.head_time == 10s);
    CHECK(most.body_time == 60s);
    CHECK(most.write_time == 30s);
    CHECK(sizeof most == together(most.head, most.connections, most.sessions, most.streams, most.memory,
                                  most.stored_events, most.stored_bytes, most.session_idle, most.store_time,
                                  most.keep_alive, most.connection_idle, most.head_time, most.body_time,
                                  most.write_time));
}

TEST_CASE("The limits of an HTTP client are these by default")
{
    const comcp::http::client_settings with = comcp::http::settings_for("http://h.test/mcp").value();
    CHECK(with.connections == 256);
    CHECK(with.idle_connections == 8);
    CHECK(with.listens);
    CHECK_FALSE(with.other_origins);
    CHECK(with.times.connect == 20s);
    CHECK(with.times.head == comcp::no_limit);
    CHECK(with.times.first_event == comcp::no_limit);
    CHECK(with.times.idle == comcp::no_limit);
    CHECK(with.times.notice == 60s);
    CHECK(with.times.rest == 5s);
    CHECK(with.times.unused == 30s);
}
