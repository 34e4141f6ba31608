// SPDX-License-Identifier: MIT
//
// The seam between HTTP servers and what answers their requests: whole requests in, answers or streams out, no socket.
// Our own listener is one user; a host with an HTTP server of its own is another. What answers MCP behind it is
// server/http_service.hpp.
#pragma once

#include <comcp/http/budget.hpp>
#include <comcp/http/fields.hpp>
#include <comcp/task.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace comcp::inline COMCP_ABI::http
{

/// One request. The head is what a client said, the rest what its server knows.
struct request
{
    std::string method; ///< as it was sent
    std::string target; ///< origin-form: path and query
    http::fields fields;
    std::string body;

    std::string peer;           ///< address of the client, for logs and authorization
    std::string principal;      ///< who the host's authorization says it is; set by `service::refuse`
    bool whole_answer = false;  ///< the server can only answer once: no stream (see `service`)
    http::fields answer_fields; ///< what every answer to it carries (CORS); set by `service::refuse`
    bool takes_json = true;     ///< the client accepts an answer as JSON, and
    bool takes_stream = true;   ///< as a stream of events; both set by `service::refuse`
    budget_share counted;       ///< what the body holds of the service's memory
};

/// The rest of an answer, pulled piece by piece. Destroying it before the end says that the client left.
/// Thread rule: one executor at a time.
class body_stream
{
public:
    body_stream() = default;
    body_stream(const body_stream&) = delete;
    body_stream& operator=(const body_stream&) = delete;
    virtual ~body_stream() = default;

    /// Waits for more and appends it to `out`; false at the end, with nothing appended.
    /// *Cancellation*: any; the stream is then to be destroyed.
    virtual task<bool> next(std::string& out) = 0;
};

/// One answer. Its fields are those of the content; length, transfer coding, Connection and Date are the server's.
struct response
{
    int status = 200;
    http::fields fields;
    std::string body;
    std::unique_ptr<body_stream> stream; ///< when set, the body is what comes out of it
};

/// A server that can send an answer only as a whole says so in each request (`whole_answer`). Then every answer is one
/// text, a GET is answered with 405, progress and log messages are dropped, and a handler that asks its client fails at
/// once with errc::unsupported, since the client would not hear it.
///
/// Thread rule: any executor of the context, several at once.
class service
{
public:
    service() = default;
    service(const service&) = delete;
    service& operator=(const service&) = delete;
    virtual ~service() = default;

    /// Judges a head before its body is read. An answer is the final one: the body is not wanted.
    virtual task<std::optional<response>> refuse(request& head) = 0;
    /// Answers a request that was not refused. *Errors*: none; what fails becomes an answer.
    virtual task<response> handle(request whole) = 0;

    /// The largest body in bytes; beyond it 413.
    virtual std::size_t most_body() const = 0;
    /// What bodies and queued output are counted in; null: nothing counts.
    virtual std::shared_ptr<budget> memory() const = 0;
};

} // namespace comcp::inline COMCP_ABI::http
