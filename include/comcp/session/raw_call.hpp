// SPDX-License-Identifier: MIT
//
// A request of any method whose params are given as text and whose result is kept as JSON.
#pragma once

#include <comcp/detail/elsewhere.hpp>
#include <comcp/json/result.hpp>
#include <comcp/json/source.hpp>
#include <comcp/session/session.hpp>

#include <string>
#include <string_view>
#include <utility>

namespace comcp::inline COMCP_ABI
{

namespace detail
{

class raw_call final : public pending_call
{
public:
    raw_call(session& in, std::string_view method, std::string_view params, bool keep_source)
        : pending_call(in.lot(), method),
          params_(params),
          keep_source_(keep_source)
    {}

    json_result take() { return std::move(result_); }

private:
    void write_params(std::string& out) const override { out += params_.empty() ? std::string_view("{}") : params_; }

    std::optional<fault> read_result(const rpc::message& answer) override
    {
        result_.value = json::object(*answer.result, json::storage_ptr());
        if (keep_source_)
            if (const auto text = member_source(answer.text, "result")) result_.source = *text;
        return std::nullopt;
    }

    std::string_view params_;
    bool keep_source_;
    json_result result_;
};

/// Sends a request of any method. `params` is the text of an object, or empty.
inline task<json_result> request_raw(std::shared_ptr<session> self, std::string method, std::string params,
                                     call_timeouts times, bool keep_source, exchange_id related = pipe_exchange)
{
    raw_call call(*self, method, params, keep_source);
    call.relates_to(related);
    co_await session::perform(self, call, times);
    co_return call.take();
}

} // namespace detail

} // namespace comcp::inline COMCP_ABI
