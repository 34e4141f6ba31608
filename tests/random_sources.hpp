// SPDX-License-Identifier: MIT
//
// Random bytes as a test wants them, in place of the system's.
#pragma once

#include <comcp/detail/random.hpp>

#include <cerrno>
#include <cstddef>
#include <cstring>

namespace sources
{

inline ssize_t zeros(void* to, std::size_t size, unsigned)
{
    std::memset(to, 0, size);
    return static_cast<ssize_t>(size);
}

inline ssize_t ones(void* to, std::size_t size, unsigned)
{
    std::memset(to, 0xFF, size);
    return static_cast<ssize_t>(size);
}

inline ssize_t failing(void*, std::size_t, unsigned)
{
    errno = ENOSYS;
    return -1;
}

inline comcp::detail::random_source chosen = ::getrandom;

/// Gives what `chosen` gives.
inline ssize_t switched(void* to, std::size_t size, unsigned flags) { return chosen(to, size, flags); }

/// Chooses for as long as it lives.
class choice
{
public:
    explicit choice(comcp::detail::random_source which) { chosen = which; }
    choice(const choice&) = delete;
    choice& operator=(const choice&) = delete;
    ~choice() { chosen = ::getrandom; }
};

} // namespace sources
