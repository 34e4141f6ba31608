// SPDX-License-Identifier: MIT
//
// Registered resources and templates of resources, with their handlers erased, and how one is read.
#pragma once

#include <comcp/protocol/resources.hpp>
#include <comcp/protocol/uri_template.hpp>
#include <comcp/server/completers.hpp>
#include <comcp/server/entry.hpp>
#include <comcp/server/handler_call.hpp>
#include <comcp/server/resource.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace comcp::inline COMCP_ABI::detail
{

class resource_entry final : public entry
{
public:
    /// *Errors*: errc::invalid_argument when the URI is none, or the handler wants variables.
    resource_entry(resource described, resource_handler handler);
    resource_entry(const resource_entry&) = default;

    const std::string& key() const override { return info.uri; }
    std::shared_ptr<entry> copy() const override { return std::make_shared<resource_entry>(*this); }
    common_parts parts() override { return {info.title, info.description, info.icons, info.meta}; }
    void write(std::string& out, const wire::codec& codec, revision at) const override;
    bool blocks() const override { return handler_.run.type->blocking; }

    /// Leads to one answer.
    void read(const handler_call& call) const;

    resource info;

private:
    resource_handler handler_;
};

class template_entry final : public entry
{
public:
    /// *Errors*: errc::invalid_argument when the template is malformed, or lacks a variable that the handler requires.
    template_entry(resource_template described, resource_handler handler);
    template_entry(const template_entry&) = default;

    const std::string& key() const override { return info.uri_template; }
    std::shared_ptr<entry> copy() const override { return std::make_shared<template_entry>(*this); }
    common_parts parts() override { return {info.title, info.description, info.icons, info.meta}; }
    void write(std::string& out, const wire::codec& codec, revision at) const override;
    bool blocks() const override { return handler_.run.type->blocking || completers_.blocks(); }

    /// False when the URI is none of this template, or its variables do not bind; else it leads to one answer.
    bool read(const handler_call& call, std::string_view uri) const;
    bool matches(std::string_view uri) const;

    /// False when there is no such variable; else it leads to one answer.
    bool complete(const handler_call& call, const completion_request& asked) const;
    bool completes() const override { return !completers_.empty(); }
    /// *Errors*: errc::invalid_argument when there is no such variable.
    void set_completer(std::string variable, erased_handler completer);

    resource_template info;

private:
    bool has_variable(std::string_view name) const;

    resource_handler handler_;
    uri_template pattern_;
    completers completers_;
};

/// The variables of a URI. For file URIs none that could lead out of the directory that is meant: a `..`, a NUL, or a
/// slash where the template has none (2025-11-25, resources, security: G-8).
std::optional<uri_variables> safe_variables(const uri_template& pattern, std::string_view uri);

} // namespace comcp::inline COMCP_ABI::detail

#if !defined(COMCP_SEPARATE)
#include <comcp/server/impl/resource_entry.ipp>
#endif
