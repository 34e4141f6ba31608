// SPDX-License-Identifier: MIT
//
// The server that a client talks to, with its kind erased: a program to start, a URL, or whatever else a host describes
// (transport/settings.hpp says how). It makes a fresh transport for each session.
#pragma once

#include <comcp/policy/timeouts.hpp>
#include <comcp/transport/child_transport.hpp>
#include <comcp/transport/concept.hpp>
#include <comcp/transport/settings.hpp>

#include <concepts>
#include <memory>
#include <utility>

namespace comcp::inline COMCP_ABI
{

inline std::unique_ptr<transport> make_transport(const child_process& program, const transport_settings& with)
{
    return make_child_transport(program, with.limits);
}
inline launch_facts launch_of(const child_process& program) { return {program.program(), program.args()}; }

/// A description of a server: it can be copied, and a transport can be made for it.
template <class T>
concept server_description = std::copy_constructible<T> && requires(const T& what, const transport_settings& with) {
    { make_transport(what, with) } -> std::same_as<std::unique_ptr<transport>>;
};

namespace detail
{

class target
{
public:
    target() = default;
    target(const target&) = delete;
    target& operator=(const target&) = delete;
    virtual ~target() = default;

    /// Null when there can be no further one.
    virtual std::unique_ptr<transport> make(const transport_settings& with) = 0;
    /// Whether it can make several.
    virtual bool lasts() const { return true; }
    /// What the connect time depends on.
    virtual launch_facts launch() const { return {}; }
};

template <server_description Server>
class described_target final : public target
{
public:
    explicit described_target(Server what) : what_(std::move(what)) {}

    std::unique_ptr<transport> make(const transport_settings& with) override { return make_transport(what_, with); }
    launch_facts launch() const override
    {
        if constexpr (requires { launch_of(what_); }) return launch_of(what_);
        else return {};
    }

private:
    Server what_;
};

/// A transport of the host, for one session.
class given_target final : public target
{
public:
    explicit given_target(std::unique_ptr<transport> wire) : wire_(std::move(wire)) {}

    std::unique_ptr<transport> make(const transport_settings&) override { return std::move(wire_); }
    bool lasts() const override { return false; }

private:
    std::unique_ptr<transport> wire_;
};

} // namespace detail
} // namespace comcp::inline COMCP_ABI
