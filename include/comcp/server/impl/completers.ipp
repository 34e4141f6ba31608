// SPDX-License-Identifier: MIT
//
// How suggestions are asked for and sent: see server/completers.hpp and server/prompt.hpp.
#pragma once

#include <comcp/server/completers.hpp>

#include <string>
#include <utility>

namespace comcp::inline COMCP_ABI::detail
{

COMCP_DECL void send_completion(const reply& to, completion value)
{
    value.cap();
    to.send_completion(value);
}

COMCP_DECL void completers::set(std::string argument, erased_handler completer)
{
    for (auto& [name, handler] : all_)
        if (name == argument) return void(handler = std::move(completer));
    all_.emplace_back(std::move(argument), std::move(completer));
}

COMCP_DECL bool completers::blocks() const
{
    for (const auto& each : all_)
        if (each.second.type->blocking) return true;
    return false;
}

COMCP_DECL void completers::complete(const handler_call& call, const completion_request& asked) const
{
    for (const auto& [name, handler] : all_) {
        if (name != asked.argument) continue;
        run_handler(handler, call, [&](void* given) {
            auto& all = *static_cast<completion_given*>(given);
            all.value = asked.value;
            all.others = asked.context;
            return true;
        });
        return;
    }
    call.now().send_completion(completion());
}

} // namespace comcp::inline COMCP_ABI::detail
