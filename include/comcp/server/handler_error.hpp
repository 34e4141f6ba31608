// SPDX-License-Identifier: MIT
//
// What a handler of a server throws to say how it failed. A `comcp::request_error` is answered as the JSON-RPC error
// that it is; any other exception with a fixed text, since its own may hold what is not meant for a peer.
#pragma once

#include <comcp/protocol/elicitation.hpp>
#include <comcp/session/request_error.hpp>

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace comcp::inline COMCP_ABI
{

/// A failure whose text is for the model: of a tool it becomes an `isError` result, of a resource, prompt or completion
/// the message of an internal error.
class tool_error : public std::runtime_error
{
public:
    using std::runtime_error::runtime_error;
};

/// There is no such resource: thrown by a handler whose URI or variables name nothing (2025-11-25, resources).
class resource_not_found : public std::runtime_error
{
public:
    resource_not_found() : std::runtime_error("no such resource") {}
};

/// The user must visit a URL before the request can succeed (2025-11-25, elicitation: URL mode). All must be of mode
/// url. A client that cannot be told so gets the messages and URLs as the text of a failure.
class url_elicitation_required : public std::runtime_error
{
public:
    explicit url_elicitation_required(elicitation_request only)
        : url_elicitation_required(std::vector<elicitation_request>{std::move(only)})
    {}
    explicit url_elicitation_required(std::vector<elicitation_request> all)
        : std::runtime_error("a URL must be visited first"),
          required_(std::make_shared<const std::vector<elicitation_request>>(std::move(all)))
    {}

    const std::vector<elicitation_request>& required() const noexcept { return *required_; }

private:
    std::shared_ptr<const std::vector<elicitation_request>> required_; // copying an exception must not throw
};

} // namespace comcp::inline COMCP_ABI
