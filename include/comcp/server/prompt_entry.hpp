// SPDX-License-Identifier: MIT
//
// A registered prompt with its handler erased: the arguments that it declares, and how they are bound.
#pragma once

#include <comcp/protocol/prompts.hpp>
#include <comcp/server/completers.hpp>
#include <comcp/server/entry.hpp>
#include <comcp/server/handler_call.hpp>
#include <comcp/server/prompt.hpp>

#include <memory>
#include <string>
#include <string_view>

namespace comcp::inline COMCP_ABI::detail
{

class prompt_entry final : public entry
{
public:
    /// Declares the members of a described struct; those of a map are declared by hand.
    prompt_entry(prompt described, prompt_handler handler);
    prompt_entry(const prompt_entry&) = default;

    const std::string& key() const override { return info.name; }
    std::shared_ptr<entry> copy() const override { return std::make_shared<prompt_entry>(*this); }
    common_parts parts() override { return {info.title, info.description, info.icons, info.meta}; }
    void write(std::string& out, const wire::codec& codec, revision at) const override;
    bool blocks() const override { return handler_.run.type->blocking || completers_.blocks(); }

    /// Leads to one answer; arguments that are missing or wrong are -32602.
    void get(const handler_call& call, const json::object& arguments) const;

    /// False when there is no such argument; else it leads to one answer.
    bool complete(const handler_call& call, const completion_request& asked) const;
    bool completes() const override { return !completers_.empty(); }
    /// *Errors*: errc::invalid_argument when there is no such argument.
    void set_completer(std::string argument, erased_handler completer);
    /// Describes an argument. *Errors*: as above.
    void describe(std::string_view argument, std::string description, std::string title);

    prompt info;

private:
    prompt_argument* find(std::string_view name);

    prompt_handler handler_;
    completers completers_;
};

} // namespace comcp::inline COMCP_ABI::detail

#if !defined(COMCP_SEPARATE)
#include <comcp/server/impl/prompt_entry.ipp>
#endif
