// SPDX-License-Identifier: MIT
//
// A request of any method whose result is kept as JSON.
#pragma once

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

/// A request whose result is kept as JSON.
class json_call : public pending_call
{
public:
    json_call(session& in, std::string_view method, bool keep_source)
        : pending_call(in.lot(), method),
          keep_source_(keep_source)
    {}

    json_result take() { return std::move(result_); }

private:
    std::optional<fault> read_result(const rpc::message& answer) override
    {
        result_.value = json::object(*answer.result, json::storage_ptr());
        if (keep_source_)
            if (const auto text = member_source(answer.text, "result")) result_.source = *text;
        return std::nullopt;
    }

    bool keep_source_;
    json_result result_;
};

} // namespace detail

} // namespace comcp::inline COMCP_ABI
