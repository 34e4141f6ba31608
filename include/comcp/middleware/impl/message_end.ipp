// SPDX-License-Identifier: MIT
//
// Replies and exceptions in one word: see middleware/message_end.hpp.
#pragma once

#include <comcp/asio.hpp>
#include <comcp/error.hpp>
#include <comcp/json/source.hpp>
#include <comcp/middleware/message_end.hpp>

#include <exception>
#include <system_error>

namespace comcp::inline COMCP_ABI
{

COMCP_DECL message_end::message_end(const middleware_reply& reply)
{
    if (reply.error) {
        what = kind::error;
        code = reply.error->code;
        text = reply.error->message;
    } else if (member_source(reply.result, "isError") == "true") {
        what = kind::tool_error;
    }
}

COMCP_DECL message_end::message_end(std::exception_ptr thrown) : what(kind::failed)
{
    try {
        std::rethrow_exception(thrown);
    } catch (const request_error& refused) {
        what = kind::error;
        code = refused.code();
        text = refused.what();
    } catch (const std::system_error& failed) {
        const bool aborted = failed.code() == asio::error::operation_aborted;
        if (aborted || failed.code() == errc::cancelled) what = kind::cancelled;
        else text = failed.what();
    } catch (const std::exception& other) {
        text = other.what();
    } catch (...) {
    }
}

COMCP_DECL std::string_view to_string(message_end::kind what)
{
    switch (what) {
    case message_end::kind::ok: return "ok";
    case message_end::kind::tool_error: return "tool_error";
    case message_end::kind::error: return "error";
    case message_end::kind::cancelled: return "cancelled";
    case message_end::kind::failed: return "failed";
    }
    return "failed";
}

} // namespace comcp::inline COMCP_ABI
