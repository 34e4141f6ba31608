// SPDX-License-Identifier: MIT
//
// Random bytes of the operating system, and tokens made of them that nobody can guess (session ids). No generator of
// our own and no seed: when the system gives none, that is an error. Not for tests that want the same numbers again:
// they pass a source of their own.
#pragma once

#include <comcp/detail/base64.hpp>
#include <comcp/result.hpp>

#include <sys/random.h>
#include <sys/types.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <system_error>

namespace comcp::inline COMCP_ABI::detail
{

/// Fills up to `size` bytes and says how many, or gives -1 and sets `errno`, as `getrandom` does.
using random_source = ssize_t (*)(void* to, std::size_t size, unsigned flags);

/// `Size` random bytes. Waits only in the first moments of the machine, until the system has a seed.
template <std::size_t Size>
result<std::array<unsigned char, Size>> random_bytes(random_source source = ::getrandom)
{
    std::array<unsigned char, Size> out{};
    for (std::size_t done = 0; done < Size;) {
        const ssize_t got = source(out.data() + done, Size - done, 0);
        if (got > 0) {
            done += static_cast<std::size_t>(got);
        } else if (got == 0 || errno != EINTR) {
            return fault(std::error_code(got == 0 ? EIO : errno, std::generic_category()),
                         "the system gives no random bytes");
        }
    }
    return out;
}

/// 32 characters A-Z a-z 0-9 - _ with 192 random bits. 2025-11-25, transports: a session id is cryptographically
/// secure, and of visible ASCII only (E-40).
inline result<std::string> random_token(random_source source = ::getrandom)
{
    const auto bytes = random_bytes<24>(source);
    if (!bytes) return bytes.error();
    std::string text = base64_encode({reinterpret_cast<const char*>(bytes->data()), bytes->size()});
    for (char& c : text) c = c == '+' ? '-' : c == '/' ? '_' : c;
    return text;
}

/// An even number in [0, 1), for the jitter of delays (policy/reconnect.hpp).
inline result<double> random_fraction(random_source source = ::getrandom)
{
    const auto bytes = random_bytes<sizeof(std::uint64_t)>(source);
    if (!bytes) return bytes.error();
    std::uint64_t number = 0;
    std::memcpy(&number, bytes->data(), sizeof number);
    return static_cast<double>(number >> 11U) * 0x1p-53; // the 53 bits that a double can hold
}

} // namespace comcp::inline COMCP_ABI::detail
