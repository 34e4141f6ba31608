// SPDX-License-Identifier: MIT
//
// Hands the requests of cpp-httplib to comcp and gives back answers that are whole: nothing here streams.
#pragma once

#include <comcp/http.hpp>

#include <httplib.h>

#if defined(COMCP_USE_BOOST_ASIO)
#include <boost/asio/use_future.hpp>
#else
#include <asio/use_future.hpp>
#endif

#include <optional>
#include <string>
#include <utility>

/// `body` is null where the method has none. The calling thread waits for the loop.
inline void answer_once(comcp::http_service& service, const comcp::executor& loop, const httplib::Request& from,
                        httplib::Response& out, const httplib::ContentReader* body)
{
    comcp::http::request asked;
    asked.method = from.method;
    asked.target = from.target;
    asked.peer = from.remote_addr;
    asked.whole_answer = true;
    for (const auto& [name, value] : from.headers) asked.fields.add(name, value);
    auto said = comcp::asio::co_spawn(loop, service.refuse(asked), comcp::asio::use_future).get(); // before the body
    bool fits = true;
    if (body && !said)
        (*body)([&](const char* data, std::size_t size) {
            fits = asked.body.size() + size <= service.most_body();
            if (fits) asked.body.append(data, size);
            return fits;
        });
    out.status = 413;
    if (!fits) return;
    if (!said) said = comcp::asio::co_spawn(loop, service.handle(std::move(asked)), comcp::asio::use_future).get();
    out.status = said->status;
    for (const auto& [name, value] : said->fields) out.set_header(std::string(name), std::string(value));
    out.body = std::move(said->body);
}
