// SPDX-License-Identifier: MIT
#include "catch.hpp"

#include <comcp/server/server.hpp>
#include <comcp/server/server_core.hpp>
#include <comcp/server/session_record.hpp>
#include <comcp/transport/memory.hpp>

#include <memory>
#include <thread>
#include <utility>

namespace
{

/// Belongs to a session, and tells where that was destroyed.
struct last_thread final : comcp::detail::kept_state
{
    explicit last_thread(std::thread::id& to) : where(to) {}
    ~last_thread() { where = std::this_thread::get_id(); }
    void changed() override {}
    std::thread::id& where;
};

} // namespace

TEST_CASE("A session of a server is destroyed on its own executor, whoever lets go of it last")
{
    std::thread::id where;
    comcp::server server("served", "1");
    {
        comcp::asio::io_context io;
        comcp::memory_pipe pipe(io.get_executor());
        comcp::detail::session_origin from;
        from.kept = std::make_shared<last_thread>(where);
        auto session = comcp::detail::make_server_session(server.core(), io.get_executor(), std::move(pipe.first),
                                                          std::move(from));
        std::thread([held = std::move(session)]() mutable { held.reset(); }).join();
        CHECK(where == std::thread::id());
        SECTION("while the context runs") { io.poll(); }
        SECTION("or with the context") {}
    }
    CHECK(where == std::this_thread::get_id());
}
