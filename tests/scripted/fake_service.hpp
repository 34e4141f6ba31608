// SPDX-License-Identifier: MIT
//
// An HTTP service for tests of what stands in front of it: it answers as the path says, and remembers what it was
// asked. Its coroutines own what they use, so it may die while they wait.
#pragma once

#include <comcp/detail/waiter.hpp>
#include <comcp/http/service.hpp>

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace script
{

namespace http = comcp::http;
namespace asio = comcp::asio;

///     /echo     200 with the body        /refuse   403 before the body     /hold     the answer waits for release()
///     /stream   what push() gives, until finish()    /throw    an exception     /field   a field that nobody may set
class fake_service final : public http::service
{
public:
    struct state
    {
        explicit state(const comcp::executor& ex) : lot(comcp::detail::make_parking_lot(ex)) {}

        std::shared_ptr<comcp::detail::parking_lot> lot;
        std::vector<std::unique_ptr<comcp::detail::waiter>> held; // calls of /hold, and a stream that waits
        std::deque<std::string> pieces;
        bool finished = false;
        int refuses = 0;
        int handles = 0;
        int held_ended = 0;    // calls of /hold that were answered or cancelled
        int streams = 0;       // made
        int streams_ended = 0; // destroyed
        std::vector<std::string> bodies;
        std::vector<std::size_t> counted;
        std::string peer;
        std::function<void()> inside; // called in /call
    };

    explicit fake_service(const comcp::executor& ex, std::size_t memory = 64 * 1024 * 1024)
        : budget(std::make_shared<http::budget>(memory)),
          state_(std::make_shared<state>(ex))
    {}

    const std::shared_ptr<http::budget> budget;
    std::size_t most = 1024 * 1024;

    state& seen() { return *state_; }
    std::shared_ptr<state> share() { return state_; }

    /// Lets go whoever waits.
    void release()
    {
        const auto kept = state_;
        const std::size_t count = kept->held.size(); // whoever goes on may wait again
        for (std::size_t i = 0; i < count; ++i) kept->held[i]->complete();
    }
    void push(std::string piece)
    {
        state_->pieces.push_back(std::move(piece));
        release();
    }
    void finish()
    {
        state_->finished = true;
        release();
    }

    comcp::task<std::optional<http::response>> refuse(http::request& head) override { return judge(state_, head); }
    comcp::task<http::response> handle(http::request whole) override { return answer(state_, std::move(whole)); }
    std::size_t most_body() const override { return most; }
    std::shared_ptr<http::budget> memory() const override { return budget; }

private:
    class stream final : public http::body_stream
    {
    public:
        explicit stream(std::shared_ptr<state> of) : state_(std::move(of)) { ++state_->streams; }
        ~stream() override { ++state_->streams_ended; }

        comcp::task<bool> next(std::string& out) override
        {
            while (state_->pieces.empty() && !state_->finished) co_await wait(*state_);
            if (state_->pieces.empty()) co_return false;
            out += state_->pieces.front();
            state_->pieces.pop_front();
            co_return true;
        }

    private:
        std::shared_ptr<state> state_;
    };

    static comcp::task<void> wait(state& in)
    {
        comcp::detail::waiter& waiter = *in.held.emplace_back(std::make_unique<comcp::detail::waiter>(*in.lot));
        co_await waiter.wait();
    }

    static comcp::task<std::optional<http::response>> judge(std::shared_ptr<state> in, http::request& head)
    {
        ++in->refuses;
        head.answer_fields.add("X-Every", "answer");
        std::optional<http::response> none;
        if (head.target != "/refuse") co_return none;
        http::response refused;
        refused.status = 403;
        refused.body = "refused";
        co_return refused;
    }

    static comcp::task<http::response> answer(std::shared_ptr<state> in, http::request whole)
    {
        struct count
        {
            int& ends;
            ~count() { ++ends; }
        };
        ++in->handles;
        in->peer = whole.peer;
        in->bodies.push_back(whole.body);
        in->counted.push_back(whole.counted.bytes());
        http::response out;
        if (whole.target == "/throw") throw std::runtime_error("this service is broken");
        if (whole.target == "/field") out.fields.add("Content-Length", "3");
        if (whole.target == "/none") out.status = 204;
        if (whole.target == "/call" && in->inside) in->inside();
        if (whole.target == "/hold") {
            count ended{in->held_ended};
            co_await wait(*in);
        }
        if (whole.target == "/stream") {
            out.fields.add("Content-Type", "text/event-stream");
            out.stream = std::make_unique<stream>(in);
        } else if (whole.target != "/none") {
            out.fields.add("Content-Type", "text/plain");
            out.body = std::move(whole.body);
        }
        co_return out;
    }

    std::shared_ptr<state> state_;
};

} // namespace script
