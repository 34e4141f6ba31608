// SPDX-License-Identifier: MIT
//
// A registered tool with its handler erased: its schemas, and how a call's arguments are bound.
#pragma once

#include <comcp/protocol/tools.hpp>
#include <comcp/server/entry.hpp>
#include <comcp/server/handler_call.hpp>
#include <comcp/server/tool.hpp>

#include <memory>
#include <string>

namespace comcp::inline COMCP_ABI::detail
{

class tool_entry final : public entry
{
public:
    /// Makes the schemas. *Errors*: errc::invalid_argument when a note names no member, or a schema is not of an
    /// object.
    tool_entry(comcp::tool described, tool_handler handler);
    tool_entry(const tool_entry&) = default;

    const std::string& key() const override { return info.name; }
    std::shared_ptr<entry> copy() const override { return std::make_shared<tool_entry>(*this); }
    common_parts parts() override { return {info.title, info.description, info.icons, info.meta}; }
    void write(std::string& out, const wire::codec& codec, revision at) const override;
    bool blocks() const override { return handler_.run.type->blocking; }

    /// Runs one call, whose `arguments` are an object; leads to one answer.
    void call(const handler_call& call, const json::value& arguments) const;
    /// Describes a member of the arguments. *Errors*: errc::invalid_argument when there is no such member.
    void describe(std::string name, field note);
    /// *Errors*: errc::invalid_argument when the schema is not of an object.
    void set_output_schema(json::object schema);

    comcp::tool info;

private:
    /// False when the arguments do not bind; it is answered then.
    bool bind(const handler_call& call, const json::value& arguments, void* given) const;

    tool_handler handler_;
    notes notes_;
};

} // namespace comcp::inline COMCP_ABI::detail

#if !defined(COMCP_SEPARATE)
#include <comcp/server/impl/tool_entry.ipp>
#endif
