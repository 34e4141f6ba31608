// SPDX-License-Identifier: MIT
// Which variables a child gets.
#include <comcp/detail/environment.hpp>

#include "catch.hpp"

namespace
{
using comcp::detail::child_environment;
using comcp::detail::environment;
using comcp::detail::environment_change;
using changes = std::vector<environment_change>;
} // namespace

TEST_CASE("a child gets the harmless variables of its host and no others", "[environment]")
{
    const char* const host[] = {"PATH=/bin", "HOME=/home/ada", "LC_ALL=C",       "LC_TIME=de",
                                "TZ=UTC",    "SECRET_KEY=1",   "LD_PRELOAD=x",   "SSH_AUTH_SOCK=s",
                                "PATHS=/no", "MY_HOME=/no",    "http_proxy=u:p", "XDG_RUNTIME_DIR=/run/1",
                                nullptr};
    CHECK(child_environment(host, false, {}) == environment{{"HOME", "/home/ada"},
                                                            {"LC_ALL", "C"},
                                                            {"LC_TIME", "de"},
                                                            {"PATH", "/bin"},
                                                            {"TZ", "UTC"},
                                                            {"XDG_RUNTIME_DIR", "/run/1"}});
}

TEST_CASE("each variable of the documented list is passed", "[environment]")
{
    for (const char* name :
         {"HOME", "LANG", "LANGUAGE", "LC_CTYPE", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER",
          "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR", "XDG_STATE_HOME"}) {
        INFO(name);
        const std::string entry = std::string(name) + "=v";
        const char* const host[] = {entry.c_str(), nullptr};
        CHECK(child_environment(host, false, {}) == environment{{name, "v"}});
    }
}

TEST_CASE("a shell function that an old bash exported is not passed", "[environment]")
{
    const char* const host[] = {"TERM=() { :; }; echo", "PATH=/bin", "LC_X=()", nullptr};
    CHECK(child_environment(host, false, {}) == environment{{"PATH", "/bin"}});
    CHECK(child_environment(host, true, {}).size() == 3);
    CHECK(child_environment(host, false, {{"TERM", "()"}}).at("TERM") == "()"); // declared is declared
}

TEST_CASE("the whole environment is passed when that is asked for", "[environment]")
{
    const char* const host[] = {"PATH=/bin", "SECRET_KEY=1", "EMPTY=", "EQUALS=a=b", nullptr};
    CHECK(child_environment(host, true, {}) ==
          environment{{"EMPTY", ""}, {"EQUALS", "a=b"}, {"PATH", "/bin"}, {"SECRET_KEY", "1"}});
}

TEST_CASE("declared variables add to, replace and take away, in their order", "[environment]")
{
    const char* const host[] = {"PATH=/bin", "HOME=/home/ada", "TZ=UTC", nullptr};
    const changes declared = {
        {"TOKEN", "t"}, {"PATH", "/opt/x"}, {"TZ", std::nullopt}, {"HOME", std::nullopt}, {"HOME", "/h"}};
    CHECK(child_environment(host, false, declared) == environment{{"HOME", "/h"}, {"PATH", "/opt/x"}, {"TOKEN", "t"}});
}

TEST_CASE("entries without a name are skipped and the first of two equal names counts", "[environment]")
{
    const char* const host[] = {"=C:=x", "nonsense", "", "TZ=first", "TZ=second", nullptr};
    CHECK(child_environment(host, true, {}) == environment{{"TZ", "first"}});
    CHECK(child_environment(nullptr, true, {}).empty());
}

TEST_CASE("an environment is written as execve takes it", "[environment]")
{
    CHECK(comcp::detail::environment_strings({{"B", "2=3"}, {"A", ""}}) == std::vector<std::string>{"A=", "B=2=3"});
}
