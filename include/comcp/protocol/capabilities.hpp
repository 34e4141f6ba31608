// SPDX-License-Identifier: MIT
//
// What a client or server says it can do. Capability objects are open (B-9): the object is kept as it came, and the
// presence of a member is the signal, never its truth value. Not for acting on it: sessions and roles do.
#pragma once

#include <comcp/protocol/read.hpp>

#include <string_view>
#include <utility>

namespace comcp::inline COMCP_ABI
{

/// The part that both directions share.
///
/// A member counts as declared unless it is missing, null or false. `[]` and `true` count although the specification
/// wants an object: languages that write an empty map as `[]` are in the field.
class capability_set
{
public:
    capability_set() = default;

    /// Whether a capability is declared: `has("tools")`.
    bool has(std::string_view name) const noexcept { return find(object_, name) != nullptr; }

    /// Whether it is declared together with a part of it: `has("tools", "listChanged")`, `has("sampling", "context")`.
    bool has(std::string_view name, std::string_view part) const noexcept
    {
        const json::value* value = find(object_, name);
        const json::object* object = value ? value->if_object() : nullptr;
        return object && find(*object, part) != nullptr;
    }

    /// Everything, as it came or as it will be sent.
    const json::object& raw() const noexcept { return object_; }

protected:
    explicit capability_set(const json::object& from) : object_(detail::owned(from)) {}

    json::object& at(std::string_view name)
    {
        json::value& value = object_[json::string_view(name.data(), name.size())];
        return value.is_object() ? value.get_object() : value.emplace_object();
    }

private:
    static const json::value* find(const json::object& object, std::string_view name) noexcept
    {
        const json::value* value = member(object, name);
        return value && !(value->is_bool() && !value->get_bool()) ? value : nullptr;
    }

    json::object object_;
};

/// The capabilities of one side; `Side` only tells the two apart.
template <class Side>
class capabilities_of : public capability_set
{
public:
    capabilities_of() = default;

    /// Keeps a copy of what a peer sent, or of what a host wants to send.
    explicit capabilities_of(const json::object& from) : capability_set(from) {}

    /// Declares a capability: an empty object, unless it is there already.
    capabilities_of& declare(std::string_view name)
    {
        at(name);
        return *this;
    }

    /// Declares it with a flag: `declare("tools", "listChanged")`.
    capabilities_of& declare(std::string_view name, std::string_view flag)
    {
        at(name)[json::string_view(flag.data(), flag.size())] = true;
        return *this;
    }
};

using client_capabilities = capabilities_of<struct client_side>;
using server_capabilities = capabilities_of<struct server_side>;

} // namespace comcp::inline COMCP_ABI
