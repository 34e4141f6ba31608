// SPDX-License-Identifier: MIT
// Where the program of a child is found.
#include <comcp/detail/lookup.hpp>

#include "catch.hpp"

#include <map>
#include <vector>

namespace
{

using comcp::errc;
using comcp::detail::environment;
using comcp::detail::file_kind;
using comcp::detail::find_program;

/// A file system of a few files that keeps a record of what was asked for.
struct files
{
    std::map<std::string, file_kind> known;
    mutable std::vector<std::string> asked = {};

    file_kind operator()(const std::string& path) const
    {
        asked.push_back(path);
        const auto found = known.find(path);
        return found == known.end() ? file_kind::missing : found->second;
    }
};

} // namespace

TEST_CASE("a program is searched for in the order of the child's PATH", "[lookup]")
{
    const files disk{{{"/b/tool", file_kind::executable}, {"/c/tool", file_kind::executable}}};
    const auto found = find_program("tool", {{"PATH", "/a:/b/:/c"}}, "", disk);
    REQUIRE(found.has_value());
    CHECK(*found == "/b/tool");
    CHECK(disk.asked == std::vector<std::string>{"/a/tool", "/b/tool"});
}

// A look-up in another PATH than the child gets, or the same answer to all three, is the classic mistake: PROC 27.
TEST_CASE("no PATH, an empty PATH and a PATH are three outcomes", "[lookup]")
{
    const files disk{{{"/usr/bin/tool", file_kind::executable}, {"tool", file_kind::executable}}};

    SECTION("without PATH the system's default is searched")
    {
        const auto found = find_program("tool", {}, "", disk);
        REQUIRE(found.has_value());
        CHECK(*found == "/usr/bin/tool");
        const auto missing = find_program("other", {}, "", disk);
        REQUIRE(missing.has_error());
        CHECK(missing.error().code == errc::not_found);
        CHECK(missing.error().text == "program \"other\" not found; its environment has no PATH, searched the default "
                                      "\"/bin:/usr/bin\"");
    }
    SECTION("an empty PATH finds nothing, and not the file in the working directory")
    {
        const auto found = find_program("tool", {{"PATH", ""}}, "", disk);
        REQUIRE(found.has_error());
        CHECK(found.error().code == errc::not_found);
        CHECK(found.error().text == "program \"tool\" not found; its PATH is empty, so nothing was searched");
        CHECK(disk.asked.empty());
    }
    SECTION("another PATH is searched alone")
    {
        const auto found = find_program("tool", {{"PATH", "/opt/x"}}, "", disk);
        REQUIRE(found.has_error());
        CHECK(found.error().text == "program \"tool\" not found; searched its PATH \"/opt/x\"");
        CHECK(disk.asked == std::vector<std::string>{"/opt/x/tool"});
    }
}

TEST_CASE("an empty element of PATH is not the working directory", "[lookup]")
{
    const files disk{{{"tool", file_kind::executable}, {"/tool", file_kind::executable}}};
    CHECK(find_program("tool", {{"PATH", ":/a::/b:"}}, "", disk).has_error());
    CHECK(disk.asked == std::vector<std::string>{"/a/tool", "/b/tool"});
}

TEST_CASE("a relative element of PATH is relative to the child's working directory", "[lookup]")
{
    const files disk{{{"/srv/bin/tool", file_kind::executable}}};
    const auto found = find_program("tool", {{"PATH", "bin"}}, "/srv", disk);
    REQUIRE(found.has_value());
    CHECK(*found == "bin/tool"); // as seen from there
    CHECK(disk.asked == std::vector<std::string>{"/srv/bin/tool"});
}

TEST_CASE("what cannot be executed is passed over, and named when nothing else is found", "[lookup]")
{
    files disk{{{"/a/tool", file_kind::not_executable}, {"/b/tool", file_kind::executable}}};
    CHECK(*find_program("tool", {{"PATH", "/a:/b"}}, "", disk) == "/b/tool");
    disk.known.erase("/b/tool");
    const auto found = find_program("tool", {{"PATH", "/a:/b"}}, "", disk);
    REQUIRE(found.has_error());
    CHECK(found.error().code == errc::not_found);
    CHECK(found.error().text ==
          "program \"tool\" not found; searched its PATH \"/a:/b\"; \"/a/tool\" is not an executable file");
}

TEST_CASE("a name with a slash is not searched for", "[lookup]")
{
    const files disk{{{"./here", file_kind::executable},
                      {"/abs/tool", file_kind::executable},
                      {"/srv/./tool", file_kind::executable},
                      {"/a/sub/tool", file_kind::executable},
                      {"/etc/motd", file_kind::not_executable}}};
    const environment env{{"PATH", "/a"}};

    CHECK(*find_program("./here", env, "", disk) == "./here");
    CHECK(*find_program("/abs/tool", env, "/srv", disk) == "/abs/tool");
    CHECK(*find_program("./tool", env, "/srv", disk) == "./tool"); // seen from the child's directory
    CHECK(disk.asked == std::vector<std::string>{"./here", "/abs/tool", "/srv/./tool"});

    CHECK(find_program("sub/tool", env, "", disk).error().text == "program \"sub/tool\" not found");
    CHECK(find_program("./no", env, "/srv", disk).error().text == "program \"./no\" not found in directory \"/srv\"");
    CHECK(find_program("/etc/motd", env, "/srv", disk).error().text ==
          "program \"/etc/motd\" is not an executable file");
    CHECK(find_program("./no", env, "/srv", disk).error().code == errc::not_found);
}

TEST_CASE("the probe tells programs from directories and plain files", "[lookup]")
{
    using comcp::detail::probe_file;
    CHECK(probe_file("/bin/sh") == file_kind::executable);
    CHECK(probe_file("/") == file_kind::not_executable);
    CHECK(probe_file("/proc/self/status") == file_kind::not_executable);
    CHECK(probe_file("/no/such/file") == file_kind::missing);
}
