// SPDX-License-Identifier: MIT
//
// Where the program of a child is: searched in exactly the PATH that the child gets, and never in the host's. A pure
// function of data and a probe of files, so that its table of outcomes is tested without a file system.
#pragma once

#include <comcp/detail/environment.hpp>
#include <comcp/result.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <string_view>

namespace comcp::inline COMCP_ABI::detail
{

enum class file_kind {
    missing,
    not_executable, ///< it is there, but a directory, or without permission
    executable,
};

/// The probe of the real file system.
inline file_kind probe_file(const std::string& path)
{
    struct stat status;
    if (::stat(path.c_str(), &status) != 0) return file_kind::missing;
    const bool usable = S_ISREG(status.st_mode) && ::faccessat(AT_FDCWD, path.c_str(), X_OK, AT_EACCESS) == 0;
    return usable ? file_kind::executable : file_kind::not_executable;
}

/// What the system searches for a process that has no PATH at all.
inline constexpr std::string_view path_without_path = "/bin:/usr/bin";

/// The path to execute, as seen from the child's working directory `directory` (empty: the host's).
///
/// A name with a slash is not searched for. Without PATH the system's default is searched; an empty PATH, and an empty
/// element of one, name no directory (that they once meant the working directory is how the wrong program gets run).
template <class Probe>
result<std::string> find_program(const std::string& program, const environment& env, const std::string& directory,
                                 const Probe& probe)
{
    const auto seen_from_here = [&](const std::string& path) {
        return path.starts_with('/') || directory.empty() ? path : directory + '/' + path;
    };
    const std::string quoted = '"' + program + '"';

    if (program.find('/') != std::string::npos) {
        const std::string where =
            directory.empty() || program.starts_with('/') ? std::string() : " in directory \"" + directory + '"';
        switch (probe(seen_from_here(program))) {
        case file_kind::executable: return program;
        case file_kind::not_executable:
            return fail(errc::not_found, "program " + quoted + where + " is not an executable file");
        case file_kind::missing: break;
        }
        return fail(errc::not_found, "program " + quoted + " not found" + where);
    }

    const auto declared = env.find("PATH");
    const std::string_view path = declared == env.end() ? path_without_path : std::string_view(declared->second);
    std::string refused;
    for (std::size_t at = 0; at <= path.size();) {
        const std::size_t colon = std::min(path.find(':', at), path.size());
        std::string candidate(path.substr(at, colon - at));
        at = colon + 1;
        if (candidate.empty()) continue;
        if (!candidate.ends_with('/')) candidate += '/';
        candidate += program;
        switch (probe(seen_from_here(candidate))) {
        case file_kind::executable: return candidate;
        case file_kind::not_executable:
            if (refused.empty()) refused = candidate;
            break;
        case file_kind::missing: break;
        }
    }

    std::string text = "program " + quoted + " not found";
    if (declared == env.end()) {
        text += "; its environment has no PATH, searched the default \"" + std::string(path) + '"';
    } else if (path.empty()) {
        text += "; its PATH is empty, so nothing was searched";
    } else {
        text += "; searched its PATH \"" + std::string(path) + '"';
    }
    if (!refused.empty()) text += "; \"" + refused + "\" is not an executable file";
    return fail(errc::not_found, std::move(text));
}

} // namespace comcp::inline COMCP_ABI::detail
