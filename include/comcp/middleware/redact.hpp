// SPDX-License-Identifier: MIT
//
// JSON as text for a log: secrets are taken out, control characters escaped, and the rest is cut to a size. Pure, and
// made for text from strangers: it reads once from left to right, keeps no tree, and takes anything for an input. Not a
// guarantee: a secret in the middle of prose, or in a string that is itself JSON, looks like any other text.
#pragma once

#include <comcp/config.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace comcp::inline COMCP_ABI
{

/// What is secret, and how much is shown. Keys are compared without case, '-', '_' and spaces, and at their end:
/// "token" means `access_token` and `refreshToken` too. Known from the start: authorization, token (but not
/// progressToken), password, passwd, passphrase, secret, api key, private key, access key, cookie, credential(s).
class redaction
{
public:
    redaction();

    /// One more key whose value is secret, an object or array included.
    redaction& key(std::string_view name);
    /// Bytes of text that are shown; then the text is cut, and its whole size told. 1,000 by default.
    redaction& most(std::size_t bytes);
    /// Nesting that is shown, 16 by default; what is deeper is left out.
    redaction& depth(std::size_t levels);

    /// The text without secrets: one line, at most a few dozen bytes longer than the bound. The value of a secret key,
    /// and a string with what looks like a bearer token, a key of a known service or a JSON Web Token, becomes
    /// "[secret]".
    std::string apply(std::string_view json) const;

    bool is_secret_key(std::string_view name) const;

private:
    std::vector<std::string> keys_;
    std::size_t most_ = 1000;
    std::size_t depth_ = 16;
};

/// Text for a line of a log, in quotation marks that it cannot end: quotation marks, backslashes, control characters,
/// separators of lines and invalid UTF-8 are escaped (`\"`, `\\`, `\n`, `\x1b`, `\u2028`), so no text can make up a
/// line or a field of its own. Beyond `most` bytes it is cut and three dots follow.
std::string log_text(std::string_view text, std::size_t most = 200);

namespace detail
{

bool looks_secret(std::string_view text);

/// Appends text as it stands in a log until `out` has `most` bytes; false when it had to stop.
bool append_log_text(std::string& out, std::string_view text, std::size_t most);

} // namespace detail

} // namespace comcp::inline COMCP_ABI

#if !defined(COMCP_SEPARATE)
#include <comcp/middleware/impl/redact.ipp>
#endif
