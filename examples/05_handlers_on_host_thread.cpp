// SPDX-License-Identifier: MIT
//
// A program with a frame loop of its own: handlers run on its thread, a few in each frame, and may touch its state
// without a lock. The session (ping, cancellation, deadlines) lives on an io_context, which either has a thread or is
// polled in the same loop.
#include <comcp/stdio.hpp>
#include <comcp/transport/memory.hpp>

#include <atomic>
#include <iostream>
#include <thread>

struct world // belongs to the main thread
{
    std::thread::id thread = std::this_thread::get_id();
    std::vector<std::string> things;
};

struct spawn_args
{
    std::string what;
};
BOOST_DESCRIBE_STRUCT(spawn_args, (), (what))

void register_tools(comcp::server& server, world& w)
{
    server.tool("spawn", "Puts a thing into the world", [&w](spawn_args a) {
        if (std::this_thread::get_id() != w.thread) throw std::logic_error("not the main thread");
        w.things.push_back(a.what);
        return w.things.size();
    });
}

/// What would be another program, with `make_stdio_transport()` for the server instead of the pipe.
comcp::task<void> play(std::unique_ptr<comcp::transport> wire)
{
    comcp::client client(std::move(wire), comcp::identity("player", "1.0.0"));
    co_await client.connect();
    for (const char* what : {"tree", "rock", "lake"}) co_await client.call("spawn", comcp::args("what", what));
    co_await client.close();
}

std::size_t frames(bool threaded)
{
    world w;
    comcp::manual_executor frame_work; // outlives the server's sessions
    comcp::asio::io_context io;
    comcp::server server("world", "1.0.0");
    server.handlers_on(frame_work.executor());
    register_tools(server, w);

    std::atomic<bool> done = false;
    comcp::memory_pipe pipe(io.get_executor());
    comcp::asio::co_spawn(io, server.serve(std::move(pipe.second)), comcp::asio::detached);
    const auto over = [&done](std::exception_ptr) { done = true; }; // also when it failed
    comcp::asio::co_spawn(io, play(std::move(pipe.first)), over);

    std::thread sessions;
    if (threaded) sessions = std::thread([&io] { io.run(); });
    while (!done) { // a frame
        if (!threaded) io.poll();
        frame_work.pump(4);                                        // at most four handlers' steps
        std::this_thread::sleep_for(std::chrono::milliseconds(1)); // render
    }
    if (threaded) sessions.join();
    return w.things.size();
}

int main()
{
    const std::size_t with_thread = frames(true), with_poll = frames(false);
    std::cout << with_thread << " things with a thread for the sessions, " << with_poll << " without\n";
    return with_thread == 3 && with_poll == 3 ? 0 : 1;
}
