// SPDX-License-Identifier: MIT
//
// How a program is started on Windows, as data: the environment of the child, the file that is its program, and the
// command line. Pure functions of maps and a probe of files, so that they are tested on every system. comcp starts no
// child on Windows: this is only what would decide, and nothing in it asks the system.
#pragma once

#include <comcp/detail/environment.hpp>
#include <comcp/result.hpp>

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace comcp::inline COMCP_ABI::detail
{

/// The order of names on Windows, which has variables and files without case. Only ASCII letters are folded.
struct less_without_case
{
    using is_transparent = void;

    static constexpr char fold(char c) noexcept { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

    bool operator()(std::string_view a, std::string_view b) const noexcept
    {
        const auto before = [](char x, char y) {
            return static_cast<unsigned char>(fold(x)) < static_cast<unsigned char>(fold(y));
        };
        return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(), before);
    }
};

using windows_environment = std::map<std::string, std::string, less_without_case>;

// ---- the environment -----------------------------------------------------------------------------------------------

/// Whether a child gets the variable without being asked for: what programs and shells need to find themselves, the
/// system and the user's folders. Without these ssh, npm and sockets fail at once. It leaves out what may be a secret.
inline bool passed_by_default_on_windows(std::string_view name)
{
    static constexpr std::string_view names[] = {
        "ALLUSERSPROFILE",
        "APPDATA",
        "COMMONPROGRAMFILES",
        "COMMONPROGRAMFILES(X86)",
        "COMMONPROGRAMW6432",
        "COMPUTERNAME",
        "COMSPEC",
        "HOMEDRIVE",
        "HOMEPATH",
        "LOCALAPPDATA",
        "NUMBER_OF_PROCESSORS",
        "OS",
        "PATH",
        "PATHEXT",
        "PROCESSOR_ARCHITECTURE",
        "PROGRAMDATA",
        "PROGRAMFILES",
        "PROGRAMFILES(X86)",
        "PROGRAMW6432",
        "PUBLIC",
        "SYSTEMDRIVE",
        "SYSTEMROOT",
        "TEMP",
        "TMP",
        "TZ",
        "USERDOMAIN",
        "USERNAME",
        "USERPROFILE",
        "WINDIR",
    };
    return std::binary_search(std::begin(names), std::end(names), name, less_without_case());
}

/// What a child gets. `parent` is a list like `environ`, ended by a null pointer; `everything` passes all of it. A
/// declared variable replaces the parent's, however its name is spelled.
inline windows_environment windows_child_environment(const char* const* parent, bool everything,
                                                     const std::vector<environment_change>& changes)
{
    windows_environment made;
    for (; parent && *parent; ++parent) {
        const std::string_view entry(*parent);
        const auto equals = entry.find('=');
        if (equals == entry.npos || equals == 0) continue; // "=C:=C:\x" is a note of cmd.exe for itself
        const auto name = entry.substr(0, equals);
        if (everything || passed_by_default_on_windows(name)) made.emplace(name, entry.substr(equals + 1));
    }
    for (const environment_change& change : changes) {
        if (const auto found = made.find(change.name); found != made.end()) made.erase(found);
        if (change.value) made.emplace(change.name, *change.value);
    }
    return made;
}

// ---- the program ---------------------------------------------------------------------------------------------------

/// ".EXE" of "C:\tools\a.EXE"; empty when there is none.
inline std::string_view windows_extension(std::string_view path) noexcept
{
    const auto at = path.find_last_of("./\\");
    return at == path.npos || path[at] != '.' ? std::string_view() : path.substr(at);
}

inline bool equal_without_case(std::string_view a, std::string_view b) noexcept
{
    const less_without_case less;
    return !less(a, b) && !less(b, a);
}

inline bool is_batch_file(std::string_view path) noexcept
{
    const std::string_view extension = windows_extension(path);
    return equal_without_case(extension, ".BAT") || equal_without_case(extension, ".CMD");
}

/// A file that CreateProcess starts, or cmd.exe for it. The rest of PATHEXT (scripts, consoles) needs another program.
inline bool is_program_file(std::string_view path) noexcept
{
    const std::string_view extension = windows_extension(path);
    return equal_without_case(extension, ".COM") || equal_without_case(extension, ".EXE") || is_batch_file(path);
}

/// Why the name of a file means something else to Windows than what it says, or nothing to it; empty for a good one.
inline std::string_view windows_name_problem(std::string_view path) noexcept
{
    if (path.empty()) return "is empty";
    const bool drive = path.size() > 1 && path[1] == ':';
    for (std::size_t i = 0; i != path.size(); ++i) {
        const auto c = static_cast<unsigned char>(path[i]);
        const bool stream =
            c == ':' && !(drive && i == 1); // of a file: a.bat:x is not a file with the extension .bat:x
        if (c < ' ' || c == 0x7F || stream || std::string_view("\"<>|?*").find(path[i]) != std::string_view::npos)
            return "has a character that no file name has";
    }
    if (drive && (path.size() == 2 || (path[2] != '\\' && path[2] != '/')))
        return "is relative to the current directory of a drive";
    // Windows takes them off: "a.bat." is a.bat, and no longer looks like it.
    if (path.back() == '.' || path.back() == ' ') return "ends in a dot or a space";
    return {};
}

/// The directories of a PATH. An element may stand in quotes, for a semicolon in it; an empty one names no directory.
inline std::vector<std::string> windows_path_elements(std::string_view path)
{
    std::vector<std::string> elements(1);
    bool quoted = false;
    for (const char c : path) {
        if (c == '"') quoted = !quoted;
        else if (c == ';' && !quoted) elements.emplace_back();
        else elements.back() += c;
    }
    std::erase(elements, std::string());
    return elements;
}

/// The file to execute, written with backslashes. `directory` is the child's working directory, absolute (empty: the
/// host's); what is relative is relative to it, and comes back joined to it. `is_file(path)` says whether that file is
/// there.
///
/// A name with a slash, a backslash or a drive is not searched for. A name gets each extension of the child's PATHEXT
/// that can be started, in their order; one that has such an extension is also tried as it is. Only the child's PATH is
/// searched: neither the working directory nor the host's own folder, which Windows itself looks through first.
template <class IsFile>
result<std::string> find_windows_program(const std::string& program, const windows_environment& env,
                                         const std::string& directory, const IsFile& is_file)
{
    const auto is_absolute = [](std::string_view path) {
        return path.starts_with('\\') || path.starts_with('/') || (path.size() > 1 && path[1] == ':');
    };
    const std::string quoted = '"' + program + '"';
    if (const auto problem = windows_name_problem(program); !problem.empty())
        return fail(errc::invalid_argument, "program " + quoted + ' ' + std::string(problem));
    if (!directory.empty() && !is_absolute(directory))
        return fail(errc::invalid_argument, "the working directory \"" + directory + "\" is not absolute");

    std::vector<std::string> endings;
    if (is_program_file(program)) endings.emplace_back();
    const auto declared_endings = env.find("PATHEXT");
    const std::string_view pathext = declared_endings == env.end() || declared_endings->second.empty()
                                         ? ".COM;.EXE;.BAT;.CMD"
                                         : std::string_view(declared_endings->second);
    for (std::string& ending : windows_path_elements(pathext))
        if (ending.starts_with('.') && is_program_file(ending)) endings.push_back(std::move(ending));

    const auto found = [&](std::string base) {
        if (!is_absolute(base) && !directory.empty()) base = directory + '\\' + base;
        std::replace(base.begin(), base.end(), '/', '\\');
        for (const std::string& ending : endings)
            if (std::string path = base + ending; windows_name_problem(path).empty() && is_file(path)) return path;
        return std::string();
    };

    std::string text = "program " + quoted + " not found";
    if (program.find_first_of("/\\:") != program.npos) {
        if (std::string path = found(program); !path.empty()) return path;
        if (!is_absolute(program) && !directory.empty()) text += " in directory \"" + directory + '"';
    } else if (const auto path = env.find("PATH"); path == env.end()) {
        return fail(errc::not_found, text + "; its environment has no PATH, so nothing was searched");
    } else {
        for (std::string& element : windows_path_elements(path->second)) {
            if (!element.ends_with('\\') && !element.ends_with('/')) element += '\\';
            if (std::string file = found(element + program); !file.empty()) return file;
        }
        text += path->second.empty() ? "; its PATH is empty, so nothing was searched"
                                     : "; searched its PATH \"" + path->second + '"';
    }
    return fail(errc::not_found, text + "; its PATHEXT is \"" + std::string(pathext) + '"');
}

// ---- the command line ----------------------------------------------------------------------------------------------

/// What CreateProcess takes: the file, and one string that the child takes apart itself.
struct windows_command
{
    std::string application;
    std::string line;
};

/// Adds an argument in quotes, so that the C runtime reads back `value`; `quote` is how it writes a quote in it.
inline void append_quoted(std::string& line, std::string_view value, std::string_view quote)
{
    line += '"';
    std::size_t slashes = 0;
    for (const char c : value) {
        if (c == '"') {
            line.append(slashes, '\\'); // backslashes count double before a quote, and only there
            line += quote;
        } else {
            line += c;
        }
        slashes = c == '\\' ? slashes + 1 : 0;
    }
    line.append(slashes, '\\');
    line += '"';
}

/// The command for a file of `find_windows_program`. A batch file is run by `cmd.exe /d /s /c`, of the child's
/// SYSTEMROOT: not by COMSPEC, since another shell quotes in another way.
///
/// cmd.exe reads the line of a batch file as commands, and the batch file its own arguments once more ("BatBadBut"). In
/// quotes it leaves alone all but `%`, line ends and, where a batch file has turned that on, `!`. A quote is written
/// `""`, which closes and opens, so that nothing stands outside. There is no spelling of `%` that also survives a
/// `call` in the batch file, and from `%CMDCMDLINE:~-1%` it would make a quote: that, and control characters, are
/// refused with `errc::invalid_argument`. So is a NUL in any argument.
inline result<windows_command> make_windows_command(const std::string& file, const std::vector<std::string>& args,
                                                    const windows_environment& env)
{
    if (const auto problem = windows_name_problem(file); !problem.empty())
        return fail(errc::invalid_argument, "program \"" + file + "\" " + std::string(problem));

    windows_command command;
    if (!is_batch_file(file)) {
        command.application = file;
        command.line = '"' + file + '"';
        for (const std::string& arg : args) {
            if (arg.find('\0') != arg.npos) return fail(errc::invalid_argument, "an argument has a NUL in it");
            command.line += ' ';
            if (!arg.empty() && arg.find_first_of(" \t\r\n\v\"") == arg.npos) command.line += arg;
            else append_quoted(command.line, arg, "\\\"");
        }
        return command;
    }

    const auto unsafe = [](std::string_view text) {
        return std::any_of(text.begin(), text.end(), [](char c) {
            return c == '%' || c == 0x7F || (static_cast<unsigned char>(c) < ' ' && c != '\t');
        });
    };
    const std::string refused = "cannot be passed safely to a batch file: name the program that it starts instead";
    if (unsafe(file)) return fail(errc::invalid_argument, "program \"" + file + "\" " + refused);
    const auto root = env.find("SYSTEMROOT");
    if (root == env.end() || !windows_name_problem(root->second).empty())
        return fail(errc::not_found, "\"" + file +
                                         "\" is a batch file, and its environment has no SYSTEMROOT to find "
                                         "cmd.exe in");
    command.application = root->second + "\\System32\\cmd.exe";
    command.line = '"' + command.application + "\" /v:off /d /s /c \"\"" + file + '"'; // /s takes the outer quotes off
    for (std::size_t i = 0; i != args.size(); ++i) {
        if (unsafe(args[i])) // not its text, which may be a secret
            return fail(errc::invalid_argument, "argument " + std::to_string(i + 1) + " of \"" + file +
                                                    "\" has '%' or a control character, and " + refused);
        command.line += ' ';
        append_quoted(command.line, args[i], "\"\"");
    }
    command.line += '"';
    return command;
}

} // namespace comcp::inline COMCP_ABI::detail
