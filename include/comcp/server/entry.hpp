// SPDX-License-Identifier: MIT
//
// What the things that a server offers have in common: tools, resources, resource templates and prompts are all listed,
// described, switched off and removed alike. Not for what a client can do with one: that is in tool_entry.hpp,
// resource_entry.hpp and prompt_entry.hpp.
#pragma once

#include <comcp/protocol/icon.hpp>
#include <comcp/protocol/revision.hpp>
#include <comcp/wire/codec.hpp>

#include <boost/json/object.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace comcp::inline COMCP_ABI::detail
{

enum class entry_kind : std::uint8_t {
    tool,
    resource,
    resource_template,
    prompt,
};

inline constexpr std::array all_entry_kinds = {entry_kind::tool, entry_kind::resource, entry_kind::resource_template,
                                               entry_kind::prompt};

/// The members that every kind has.
struct common_parts
{
    std::string& title;
    std::string& description;
    std::vector<icon>& icons;
    json::object& meta;
};

/// One thing that a server offers. Once it is registered it never changes: it is replaced by a changed copy.
class entry
{
public:
    entry() = default;
    entry& operator=(const entry&) = delete;
    virtual ~entry() = default;

    /// Its name, or its URI: unique among its kind.
    virtual const std::string& key() const = 0;
    /// Shares the handlers: to be changed and published in place of this one.
    virtual std::shared_ptr<entry> copy() const = 0;
    virtual common_parts parts() = 0;
    /// Appends it as an item of a list.
    virtual void write(std::string& out, const wire::codec& codec, revision at) const = 0;
    /// Needs an executor of the host to run on.
    virtual bool blocks() const = 0;
    /// Something of it is completed.
    virtual bool completes() const { return false; }

    bool enabled = true;
    std::uint64_t number = 0; ///< rises in the order of registration and is never given twice

protected:
    entry(const entry&) = default;
};

} // namespace comcp::inline COMCP_ABI::detail
