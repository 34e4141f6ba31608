// SPDX-License-Identifier: MIT
//
// How resources are read: see server/resource_entry.hpp and server/resource.hpp.
#pragma once

#include <comcp/error.hpp>
#include <comcp/protocol/uri_text.hpp>
#include <comcp/server/resource_entry.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace comcp::inline COMCP_ABI::detail
{

COMCP_DECL void send_contents(const reply& to, const resource_target& target, std::vector<resource_contents> contents)
{
    resource_result result;
    for (resource_contents& each : contents) {
        if (each.uri.empty()) each.uri = target.uri;
        if (each.mime_type.empty() && each.uri == target.uri) each.mime_type = target.mime_type;
    }
    result.contents = std::move(contents);
    to.send_resource(result);
}

COMCP_DECL void send_text_contents(const reply& to, const resource_target& target, std::string_view text)
{
    to.send_resource(resource_result::text(target.uri, std::string(text), target.mime_type));
}

COMCP_DECL void send_blob(const reply& to, const resource_target& target, const blob& value)
{
    to.send_resource(
        resource_result::bytes(target.uri, value.bytes, value.mime_type.empty() ? target.mime_type : value.mime_type));
}

COMCP_DECL resource_entry::resource_entry(resource described, resource_handler handler)
    : info(std::move(described)),
      handler_(std::move(handler))
{
    // 2025-11-25, resources: URIs follow RFC 3986 (G-8).
    if (!is_absolute_uri(info.uri))
        throw error(fail(errc::invalid_argument, "the resource \"" + info.uri + "\" is named by no URI"));
    if (handler_.texts.described || handler_.texts.copy)
        throw error(fail(errc::invalid_argument,
                         "the handler of resource \"" + info.uri + "\" wants variables, which only a template has"));
}

COMCP_DECL void resource_entry::write(std::string& out, const wire::codec& codec, revision at) const
{
    codec.write_resource(out, info, at);
}

COMCP_DECL void resource_entry::read(const handler_call& call) const
{
    run_handler(handler_.run, call, [&](void* given) {
        handler_.target(given) = {info.uri, info.mime_type};
        if (handler_.takes_uri) *static_cast<std::string*>(handler_.arguments(given)) = info.uri;
        return true;
    });
}

COMCP_DECL std::optional<uri_variables> safe_variables(const uri_template& pattern, std::string_view uri)
{
    auto found = pattern.match(uri);
    if (!found || pattern.text().size() < 5) return found;
    std::string scheme = pattern.text().substr(0, 5);
    for (char& letter : scheme)
        if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
    if (scheme != "file:") return found;
    for (const auto& [name, value] : *found) {
        // Behind a slash, a path that is absolute would replace the one before it.
        if (value.starts_with('/') && pattern.text().find("/{+" + name + "}") != std::string::npos) return std::nullopt;
        for (std::size_t at = 0; at <= value.size();) {
            const std::size_t end = std::min(value.find_first_of("/\\", at), value.size());
            if (std::string_view(value).substr(at, end - at) == "..") return std::nullopt;
            at = end + 1;
        }
    }
    return found;
}

/// The fault of a handler that requires what the template cannot give.
inline void check_variables(const uri_template& pattern, const text_arguments& wanted)
{
    if (!wanted.described) return;
    const struct_facts& facts = wanted.described->facts();
    const std::vector<std::string> names = pattern.variables();
    for (const member_info& each : facts.members)
        if (std::ranges::find(names, each.name) == names.end())
            throw error(fail(errc::invalid_argument, "URI template \"" + pattern.text() + "\" has no variable \"" +
                                                         std::string(each.name) + "\""));
}

COMCP_DECL template_entry::template_entry(resource_template described, resource_handler handler)
    : info(std::move(described)),
      handler_(std::move(handler)),
      pattern_(uri_template::parse(info.uri_template).value())
{
    const std::string_view head = std::string_view(info.uri_template).substr(0, info.uri_template.find('{'));
    if (!is_absolute_uri(head) && !info.uri_template.starts_with('{'))
        throw error(fail(errc::invalid_argument, "URI template \"" + info.uri_template + "\" begins with no scheme"));
    check_variables(pattern_, handler_.texts);
}

COMCP_DECL void template_entry::write(std::string& out, const wire::codec& codec, revision at) const
{
    codec.write_resource_template(out, info, at);
}

COMCP_DECL bool template_entry::matches(std::string_view uri) const
{
    return safe_variables(pattern_, uri).has_value();
}

COMCP_DECL bool template_entry::read(const handler_call& call, std::string_view uri) const
{
    const auto variables = safe_variables(pattern_, uri);
    if (!variables) return false;
    return run_handler(handler_.run, call, [&](void* given) {
        handler_.target(given) = {std::string(uri), info.mime_type};
        void* arguments = handler_.arguments(given);
        if (handler_.takes_uri) *static_cast<std::string*>(arguments) = uri;
        bind_errors errors;
        bind_texts(*variables, handler_.texts, arguments, errors);
        return errors.empty();
    });
}

COMCP_DECL bool template_entry::has_variable(std::string_view name) const
{
    const std::vector<std::string> names = pattern_.variables();
    return std::ranges::find(names, name) != names.end();
}

COMCP_DECL bool template_entry::complete(const handler_call& call, const completion_request& asked) const
{
    if (!has_variable(asked.argument)) return false;
    completers_.complete(call, asked);
    return true;
}

COMCP_DECL void template_entry::set_completer(std::string variable, erased_handler completer)
{
    if (!has_variable(variable))
        throw error(fail(errc::invalid_argument,
                         "URI template \"" + info.uri_template + "\" has no variable \"" + variable + "\""));
    completers_.set(std::move(variable), std::move(completer));
}

} // namespace comcp::inline COMCP_ABI::detail
