// SPDX-License-Identifier: MIT
//
// Completion: suggestions for an argument of a prompt or a variable of a resource template while a person types. Not
// what a model writes: that is sampling.
#pragma once

#include <comcp/protocol/read.hpp>
#include <comcp/result.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace comcp::inline COMCP_ABI
{

/// What an argument belongs to: a prompt by its name, or a resource by its URI or template.
class completion_reference
{
public:
    enum class kind {
        prompt,
        resource,
    };

    completion_reference() = default;

    static completion_reference prompt(std::string name) { return {kind::prompt, std::move(name)}; }
    static completion_reference resource(std::string uri_or_template)
    {
        return {kind::resource, std::move(uri_or_template)};
    }

    kind type() const noexcept { return type_; }
    /// The prompt's name, or the URI or template.
    const std::string& text() const noexcept { return text_; }

    friend bool operator==(const completion_reference&, const completion_reference&) = default;

private:
    completion_reference(kind type, std::string text) : type_(type), text_(std::move(text)) {}

    kind type_ = kind::prompt;
    std::string text_;
};

/// The params of completion/complete.
class completion_request
{
public:
    completion_reference reference;
    std::string argument; ///< its name
    std::string value;    ///< what was typed so far
    /// The arguments that have their values already (since 2025-06-18).
    std::map<std::string, std::string, std::less<>> context;
    json::object meta; ///< `_meta`
    // Members that are not listed here, of the params and of their parts.
    json::object extra;
    json::object reference_extra; ///< such as `title`, since 2025-06-18
    json::object argument_extra;
    json::object context_extra;

    completion_request() = default;
    completion_request(completion_reference of, std::string name, std::string typed)
        : reference(std::move(of)),
          argument(std::move(name)),
          value(std::move(typed))
    {}
};

/// Reads what a client asks for. The fault is for -32602: it names the member that is missing or wrong. Values of the
/// context that are no strings are left out.
result<completion_request> read_completion_request(const json::object& from);

/// The most values of one answer (2025-11-25, completion).
inline constexpr std::size_t max_completions = 100;

/// The suggestions, the best first.
class completion
{
public:
    std::vector<std::string> values;
    std::optional<std::int64_t> total; ///< how many there are, sent or not
    std::optional<bool> has_more;      ///< whether there are more than `values`
    json::object meta;                 ///< `_meta`
    json::object extra;                ///< members of the result that the specification does not name
    json::object values_extra;         ///< the same of `completion`, where the values are

    completion() = default;
    explicit completion(std::vector<std::string> all) : values(std::move(all)) {}

    /// Cuts the values to the first 100; when there were more, says so in `has_more`, and in `total` if that is not
    /// set.
    void cap();
};

/// Reads a result of completion/complete. Never fails: without values there are none, and what is not a string is left
/// out. More than 100 values are cut.
completion read_completion(const json::object& from);

} // namespace comcp::inline COMCP_ABI

#if !defined(COMCP_SEPARATE)
#include <comcp/protocol/impl/completion.ipp>
#endif
