// SPDX-License-Identifier: MIT
//
// Hands the requests of cpp-httplib to comcp and its answers back. Its threads wait; the loop runs everything of comcp.
#pragma once

#include <comcp/http.hpp>

#include <httplib.h>

#if defined(COMCP_USE_BOOST_ASIO)
#include <boost/asio/use_future.hpp>
#else
#include <asio/use_future.hpp>
#endif

#include <memory>
#include <string>
#include <utility>

class mounted
{
public:
    mounted(comcp::http_service& service, comcp::executor loop) : service_(service), loop_(std::move(loop)) {}

    void answer(const httplib::Request& from, httplib::Response& out, const httplib::ContentReader* body)
    {
        comcp::http::request asked;
        asked.method = from.method;
        asked.target = from.target;
        asked.peer = from.remote_addr;
        for (const auto& [name, value] : from.headers) asked.fields.add(name, value);
        if (auto refused = wait(service_.refuse(asked))) return send(std::move(*refused), out); // before the body
        bool fits = true;
        if (body)
            (*body)([&](const char* data, std::size_t size) {
                fits = asked.body.size() + size <= service_.most_body();
                if (fits) asked.body.append(data, size);
                return fits;
            });
        if (!fits) out.status = 413;
        else send(wait(service_.handle(std::move(asked))), out);
    }

private:
    void send(comcp::http::response answer, httplib::Response& out)
    {
        std::string type = "text/plain";
        for (const comcp::http::field each : answer.fields) {
            if (each.name == "Content-Type") type = each.value;
            else out.set_header(std::string(each.name), std::string(each.value));
        }
        out.status = answer.status;
        if (!answer.stream) return answer.body.empty() ? void() : out.set_content(answer.body, type);
        std::shared_ptr<comcp::http::body_stream> events = std::move(answer.stream);
        out.set_chunked_content_provider(type, [this, events](std::size_t, httplib::DataSink& sink) {
            std::string piece;
            if (wait(events->next(piece))) return sink.write(piece.data(), piece.size());
            sink.done();
            return true;
        });
    }

    template <class T>
    T wait(comcp::task<T> operation) // a thread of the HTTP server waits for the loop
    {
        return comcp::asio::co_spawn(loop_, std::move(operation), comcp::asio::use_future).get();
    }

    comcp::http_service& service_;
    comcp::executor loop_;
};
