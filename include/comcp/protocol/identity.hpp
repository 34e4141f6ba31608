// SPDX-License-Identifier: MIT
//
// Who a client or server says it is: the specification's `Implementation`. Not proof of anything, and not a name to
// tell servers apart by: two may say the same (F-5).
#pragma once

#include <comcp/protocol/icon.hpp>

#include <string>
#include <utility>
#include <vector>

namespace comcp::inline COMCP_ABI
{

/// A name and a version, and what newer revisions add. What is empty is not sent, nor is what the negotiated revision
/// does not have.
class identity
{
public:
    identity() = default;
    identity(std::string name, std::string version) : name_(std::move(name)), version_(std::move(version)) {}

    const std::string& name() const noexcept { return name_; }
    const std::string& version() const noexcept { return version_; }
    /// For people (since 2025-06-18).
    const std::string& title() const noexcept { return title_; }
    /// Since 2025-11-25, as the two that follow.
    const std::string& description() const noexcept { return description_; }
    const std::string& website_url() const noexcept { return website_url_; }
    const std::vector<icon>& icons() const noexcept { return icons_; }
    /// Members that a peer sent and that the specification does not name.
    const json::object& extra() const noexcept { return extra_; }

    /// What a person should see.
    const std::string& display_name() const noexcept { return title_.empty() ? name_ : title_; }

    identity& title(std::string value)
    {
        title_ = std::move(value);
        return *this;
    }
    identity& description(std::string value)
    {
        description_ = std::move(value);
        return *this;
    }
    identity& website_url(std::string value)
    {
        website_url_ = std::move(value);
        return *this;
    }
    identity& icons(std::vector<icon> value)
    {
        icons_ = std::move(value);
        return *this;
    }

    /// Reads `clientInfo` or `serverInfo`; a missing name or version reads as empty.
    static identity read(const json::object& from)
    {
        identity who(detail::text_member(from, "name"), detail::text_member(from, "version"));
        who.title_ = detail::text_member(from, "title");
        who.description_ = detail::text_member(from, "description");
        who.website_url_ = detail::text_member(from, "websiteUrl");
        who.icons_ = read_icons(from);
        who.extra_ = detail::unknown_members(from, {"name", "version", "title", "description", "websiteUrl", "icons"});
        return who;
    }

private:
    std::string name_;
    std::string version_;
    std::string title_;
    std::string description_;
    std::string website_url_;
    std::vector<icon> icons_;
    json::object extra_;
};

} // namespace comcp::inline COMCP_ABI
