// SPDX-License-Identifier: MIT
// How a program would be started on Windows.
#include <comcp/detail/windows_launch.hpp>

#include "catch.hpp"

#include <set>
#include <string>
#include <vector>

namespace
{

using comcp::errc;
using comcp::detail::environment_change;
using comcp::detail::find_windows_program;
using comcp::detail::make_windows_command;
using comcp::detail::windows_child_environment;
using comcp::detail::windows_environment;
using strings = std::vector<std::string>;

/// A file system of a few files, without case, that keeps a record of what was asked for.
struct files
{
    std::set<std::string, comcp::detail::less_without_case> known;
    mutable strings asked = {};

    bool operator()(const std::string& path) const
    {
        asked.push_back(path);
        return known.count(path) != 0;
    }
};

const windows_environment with_root = {{"SystemRoot", "C:\\Windows"}};
const std::string cmd = "\"C:\\Windows\\System32\\cmd.exe\" /v:off /d /s /c ";

std::string line(const std::string& file, const strings& args)
{
    const auto made = make_windows_command(file, args, with_root);
    return made ? made->line : "refused: " + made.error().text;
}

/// The arguments of a line after the program, as the C runtime of Windows (since 2008) reads them.
strings read_back(std::string_view text)
{
    strings out;
    text.remove_prefix(text.find('"', 1) + 1);
    for (std::size_t i = 0; i < text.size();) {
        if (text[i] == ' ') {
            ++i;
            continue;
        }
        std::string arg;
        for (bool quoted = false; i < text.size() && (quoted || text[i] != ' ');) {
            std::size_t slashes = 0;
            for (; i < text.size() && text[i] == '\\'; ++i) ++slashes;
            if (i == text.size() || text[i] != '"') {
                arg.append(slashes, '\\');
                if (slashes == 0) arg += text[i++];
                continue;
            }
            arg.append(slashes / 2, '\\');
            if (slashes % 2 == 1) arg += text[i];
            else if (quoted && text.substr(i).starts_with("\"\"")) arg += text[i++];
            else quoted = !quoted;
            ++i;
        }
        out.push_back(arg);
    }
    return out;
}

/// What cmd.exe takes for commands or variables, not in quotes.
std::string outside_of_quotes(std::string_view text)
{
    std::string out;
    bool quoted = false;
    for (const char c : text) {
        if (c == '"') quoted = !quoted;
        else if (!quoted) out += c;
    }
    return out + (quoted ? "and it is still open" : "");
}

} // namespace

TEST_CASE("a child on Windows gets what programs there cannot do without, and no secrets [26]", "[windows]")
{
    const char* const host[] = {
        "Path=C:\\bin",        "ComSpec=c",     "PATHEXT=.EXE", "SystemRoot=C:\\Windows", "ProgramData=d", "APPDATA=a",
        "LOCALAPPDATA=l",      "USERPROFILE=u", "TEMP=t",       "GITHUB_TOKEN=s",         "=C:=C:\\x",     "nonsense",
        "ProgramFiles(x86)=p", nullptr};
    const auto got = windows_child_environment(host, false, {});
    CHECK(got == windows_environment{{"APPDATA", "a"},
                                     {"ComSpec", "c"},
                                     {"LOCALAPPDATA", "l"},
                                     {"Path", "C:\\bin"},
                                     {"PATHEXT", ".EXE"},
                                     {"ProgramData", "d"},
                                     {"ProgramFiles(x86)", "p"},
                                     {"SystemRoot", "C:\\Windows"},
                                     {"TEMP", "t"},
                                     {"USERPROFILE", "u"}});
    CHECK(windows_child_environment(host, true, {}).size() == 11);
    CHECK(windows_child_environment(nullptr, true, {}).empty());
}

TEST_CASE("each variable of the list for Windows is passed, however it is spelled", "[windows]")
{
    for (const char* name : {"ALLUSERSPROFILE",
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
                             "SystemRoot",
                             "path",
                             "programfiles(x86)",
                             "temp"}) {
        INFO(name);
        CHECK(comcp::detail::passed_by_default_on_windows(name));
    }
    for (const char* name : {"", "PATHS", "PAT", "TOKEN", "SSH_AUTH_SOCK", "PSMODULEPATH"}) {
        INFO(name);
        CHECK_FALSE(comcp::detail::passed_by_default_on_windows(name));
    }
}

TEST_CASE("declared variables add to the list and replace without case", "[windows]")
{
    const char* const host[] = {"Path=C:\\bin", "TEMP=t", "Tmp=first", "TMP=second", nullptr};
    const std::vector<environment_change> declared = {{"TOKEN", "s"}, {"PATH", "D:\\x"}, {"temp", std::nullopt}};
    const auto got = windows_child_environment(host, false, declared);
    CHECK(got == windows_environment{{"PATH", "D:\\x"}, {"Tmp", "first"}, {"TOKEN", "s"}});
    CHECK(got.find("Path")->first == "PATH");
}

TEST_CASE("a launcher that is a batch file is found by its PATHEXT [25]", "[windows]")
{
    const files disk{{"C:\\node\\npx.cmd", "C:\\node\\npx"}};
    const auto found =
        find_windows_program("npx", {{"Path", "C:\\a;C:\\node\\"}, {"PATHEXT", ".EXE;.JS;.CMD"}}, "", disk);
    REQUIRE(found.has_value());
    CHECK(*found == "C:\\node\\npx.CMD");
    CHECK(disk.asked == strings{"C:\\a\\npx.EXE", "C:\\a\\npx.CMD", "C:\\node\\npx.EXE", "C:\\node\\npx.CMD"});
    CHECK(line(*found, {"-y", "server"}) == cmd + "\"\"C:\\node\\npx.CMD\" \"-y\" \"server\"\"");
}

TEST_CASE("a name with the extension of a program is tried as it is first", "[windows]")
{
    const files disk{{"C:\\a\\npx.cmd", "C:\\a\\tool.exe.exe", "C:\\a\\notes.txt", "C:\\a\\notes.txt.exe"}};
    const windows_environment env{{"PATH", "C:\\a"}};
    CHECK(*find_windows_program("npx.cmd", env, "", disk) == "C:\\a\\npx.cmd");
    CHECK(*find_windows_program("tool.exe", env, "", disk) == "C:\\a\\tool.exe.EXE");
    CHECK(*find_windows_program("notes.txt", env, "", disk) == "C:\\a\\notes.txt.EXE"); // it is no program
}

TEST_CASE("a program that is not found is told with its name and what was searched [25]", "[windows]")
{
    const files disk{{"npx.exe", "npx"}};
    const auto text = [&](const windows_environment& env) {
        const auto found = find_windows_program("npx", env, "", disk);
        REQUIRE(found.has_error());
        CHECK(found.error().code == errc::not_found);
        return found.error().text;
    };
    CHECK(
        text({{"PATH", "C:\\a;;\"C:\\b;c\""}}) ==
        "program \"npx\" not found; searched its PATH \"C:\\a;;\"C:\\b;c\"\"; its PATHEXT is \".COM;.EXE;.BAT;.CMD\"");
    CHECK(disk.asked == strings{"C:\\a\\npx.COM", "C:\\a\\npx.EXE", "C:\\a\\npx.BAT", "C:\\a\\npx.CMD",
                                "C:\\b;c\\npx.COM", "C:\\b;c\\npx.EXE", "C:\\b;c\\npx.BAT", "C:\\b;c\\npx.CMD"});
    disk.asked.clear();
    CHECK(text({}) == "program \"npx\" not found; its environment has no PATH, so nothing was searched");
    CHECK(text({{"PATH", ""}, {"PATHEXT", ".EXE"}}) ==
          "program \"npx\" not found; its PATH is empty, so nothing was searched; its PATHEXT is \".EXE\"");
    CHECK(disk.asked.empty()); // and not the file in the working directory
}

TEST_CASE("a name with a place in it is not searched for", "[windows]")
{
    const files disk{{"C:\\tools\\a.exe", "D:\\srv\\.\\a.exe", "bin\\a.exe", "D:\\srv\\bin\\b.exe"}};
    const windows_environment env{{"PATH", "bin;C:\\tools"}};
    CHECK(*find_windows_program("C:/tools/a", env, "D:\\srv", disk) == "C:\\tools\\a.EXE");
    CHECK(*find_windows_program(".\\a.exe", env, "D:\\srv", disk) == "D:\\srv\\.\\a.exe");
    CHECK(*find_windows_program("bin/a", env, "", disk) == "bin\\a.EXE");
    CHECK(*find_windows_program("b", env, "D:\\srv", disk) == "D:\\srv\\bin\\b.EXE"); // an element that is relative
    CHECK(find_windows_program("no\\a.exe", env, "D:\\srv", disk).error().text ==
          "program \"no\\a.exe\" not found in directory \"D:\\srv\"; its PATHEXT is \".COM;.EXE;.BAT;.CMD\"");
}

TEST_CASE("names that mean another file to Windows are refused", "[windows]")
{
    struct
    {
        std::string name;
        std::string_view why;
    } const cases[] = {
        {"", "is empty"},
        {"a.bat.", "ends in a dot or a space"},
        {"a.bat ", "ends in a dot or a space"},
        {"C:a.exe", "is relative to the current directory of a drive"},
        {"C:", "is relative to the current directory of a drive"},
        {"a.bat::$DATA", "has a character that no file name has"},
        {"C:\\a.bat:x", "has a character that no file name has"},
        {"a\" & calc & \"", "has a character that no file name has"},
        {std::string("a.exe\0.txt", 10), "has a character that no file name has"},
        {"\\\\?\\C:\\a.exe", "has a character that no file name has"},
    };
    const files disk{};
    for (const auto& each : cases) {
        INFO(each.name);
        const auto found = find_windows_program(each.name, {{"PATH", "C:\\a"}}, "", disk);
        REQUIRE(found.has_error());
        CHECK(found.error().code == errc::invalid_argument);
        CHECK(found.error().text == "program \"" + each.name + "\" " + std::string(each.why));
        CHECK(make_windows_command(each.name, {}, with_root).has_error());
    }
    CHECK(disk.asked.empty());
    CHECK(find_windows_program("a", {}, "srv", disk).error().text == "the working directory \"srv\" is not absolute");
}

TEST_CASE("a program gets its arguments as the C runtime reads them", "[windows]")
{
    const auto plain = make_windows_command("C:\\a b\\x.exe", {"-y"}, {}); // neither a shell nor SYSTEMROOT
    REQUIRE(plain.has_value());
    CHECK(plain->application == "C:\\a b\\x.exe");
    CHECK(plain->line == "\"C:\\a b\\x.exe\" -y");
    CHECK(line("x.exe", {"", "a b", "%PATH%", "a&b", "C:\\", "C:\\a b\\"}) ==
          "\"x.exe\" \"\" \"a b\" %PATH% a&b C:\\ \"C:\\a b\\\\\"");
    CHECK(line("x.exe", {R"({"a":1})", R"(\")", R"(a\\"b)"}) == R"("x.exe" "{\"a\":1}" "\\\"" "a\\\\\"b")");
    CHECK(line("x.exe", {"a\nb"}) == "\"x.exe\" \"a\nb\"");
    CHECK(make_windows_command("x.exe", {std::string("a\0b", 3)}, {}).error().code == errc::invalid_argument);
}

TEST_CASE("arguments are read back as they were, of a program and of a batch file", "[windows]")
{
    const strings args = {"plain", "", "two words", "\"", "\\", "\\\\\"\\\"", "a\"b c\"d", "tail\\", "tail \\\\", "\t"};
    CHECK(read_back(line("x.exe", args)) == args);
    const std::string batch = line("x.cmd", args);
    REQUIRE(batch.starts_with(cmd + '"'));
    CHECK(read_back(std::string_view(batch).substr(cmd.size() + 1, batch.size() - cmd.size() - 2)) == args);
}

TEST_CASE("nothing in an argument of a batch file is a command", "[windows]")
{
    const strings attacks = {"&calc",       "\"&calc",    "\"&calc&\"",      "\\\"&calc",  "a|b", "<x>y", "^&calc",
                             "\"\"&calc\"", "(a) @b ,;=", "!PATH!&\"!X!\"|", "\\\\\"^|\\", "\\",  "\""};
    for (const std::string file : {"C:\\a&b\\x.cmd", "x.BAT"}) {
        for (const std::string& one : attacks) {
            const std::string made = line(file, {one, one});
            INFO(made);
            REQUIRE(made.starts_with(cmd + '"'));
            // What cmd.exe has left once it took the outer quotes off.
            const std::string command = made.substr(cmd.size() + 1, made.size() - cmd.size() - 2);
            CHECK(outside_of_quotes(command) == "  ");
        }
    }
    CHECK(line("x.cmd", {"\"&calc"}) == cmd + "\"\"x.cmd\" \"\"\"&calc\"\"");
}

TEST_CASE("what no quoting keeps from cmd.exe is refused, and its text is not told", "[windows]")
{
    const std::string told = "refused: argument 2 of \"x.cmd\" has '%' or a control character, and cannot be passed "
                             "safely to a batch file: name the program that it starts instead";
    const strings refused = {"%CMDCMDLINE:~-1%&calc", "100%", "a\nb", "a\rb", std::string("a\0b", 3), "\x1A", "\x7F"};
    for (const std::string& one : refused) {
        INFO(one);
        CHECK(line("x.cmd", {"-y", one}) == told);
        CHECK(make_windows_command("x.cmd", {one}, with_root).error().code == errc::invalid_argument);
    }
    CHECK(line("C:\\%A%\\x.cmd", {}).starts_with("refused: program \"C:\\%A%\\x.cmd\" cannot be passed safely"));
    CHECK(line("C:\\%A%\\x.exe", {}) == "\"C:\\%A%\\x.exe\"");
}

TEST_CASE("a batch file is run by the system's cmd.exe and by no other shell", "[windows]")
{
    const auto made = make_windows_command("x.cmd", {}, {{"COMSPEC", "C:\\tcc.exe"}, {"SYSTEMROOT", "D:\\W"}});
    REQUIRE(made.has_value());
    CHECK(made->application == "D:\\W\\System32\\cmd.exe");
    CHECK(made->line == "\"D:\\W\\System32\\cmd.exe\" /v:off /d /s /c \"\"x.cmd\"\"");
    for (const windows_environment& env : {windows_environment{{"COMSPEC", "C:\\tcc.exe"}},
                                           windows_environment{{"SYSTEMROOT", "C:\\W\" & calc & \""}}}) {
        const auto none = make_windows_command("x.cmd", {}, env);
        REQUIRE(none.has_error());
        CHECK(none.error().code == errc::not_found);
        CHECK(none.error().text ==
              "\"x.cmd\" is a batch file, and its environment has no SYSTEMROOT to find cmd.exe in");
    }
}
