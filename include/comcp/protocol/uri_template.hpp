// SPDX-License-Identifier: MIT
//
// URI templates (RFC 6570), as far as resources need them: expanding one, and finding the variables of a URI that it
// made. Not all of the RFC: see `uri_template::parse`.
#pragma once

#include <comcp/config.hpp>
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

/// Variables of a template and their values, decoded.
using uri_variables = std::map<std::string, std::string, std::less<>>;

/// A template that was understood.
class uri_template
{
public:
    static constexpr std::size_t max_text = 2048;    ///< bytes of a template
    static constexpr std::size_t max_variables = 32; ///< of one template
    static constexpr std::size_t max_uri = 8192;     ///< bytes; a longer URI does not match

    /// Understands literals and these expressions:
    /// * `{name}`: one or more characters, none of them '/', '?' or '#', also when they are written as escapes
    /// * `{+name}`: one or more characters of any kind
    /// * `{/name}`, `{/a,b}`: for each variable nothing, or a slash and what `{name}` is
    /// * `{?a,b}` as the last: nothing, or a query that has each variable at most once, in any order, and no others
    ///
    /// A fault (`errc::invalid_argument`) for anything else: modifiers (`:3`, `*`), the operators `# . ; &`, lists such
    /// as `{a,b}`, a name that is there twice, a literal that no URI can have, and what is over the limits.
    static result<uri_template> parse(std::string_view text);

    /// The URI. Variables that are missing count as empty in `{name}` and `{+name}`, and are left out in the others.
    /// Values are escaped as the RFC says, so a '/' in the value of `{name}` gives a URI that `match` refuses.
    std::string expand(const uri_variables& values) const;

    /// The variables of a URI, or nothing when the template does not make such a URI. Where more than one division is
    /// possible, the variables take as much as they can from left to right. Nothing also for a NUL, raw or escaped, and
    /// for a '%' without two hexadecimal digits. Takes time in proportion to the sizes of both.
    std::optional<uri_variables> match(std::string_view uri) const;

    /// The names, in the order of the text.
    std::vector<std::string> variables() const;

    const std::string& text() const noexcept { return text_; }

private:
    enum class part_kind : std::uint8_t {
        literal,
        simple,   // {name}
        reserved, // {+name}
        segment,  // {/name}
        query,    // {?name}
    };

    struct part
    {
        part_kind kind;
        std::string text; // the literal, or the name
    };

    uri_template() = default;

    std::optional<fault> add_expression(std::string_view inside);
    bool match_path(std::string_view path, uri_variables& found) const;
    bool match_query(std::string_view query, uri_variables& found) const;

    std::string text_;
    std::vector<part> parts_; // those of the query come last
};

} // namespace comcp::inline COMCP_ABI

#if !defined(COMCP_SEPARATE)
#include <comcp/protocol/impl/uri_template.ipp>
#endif
