// SPDX-License-Identifier: MIT
// Lists over pages, and results: what is read from them, exact texts of numbers, and the cap on their text.
#include "script.hpp"

using namespace script;

namespace
{

std::string page(std::string_view names, std::string_view cursor = {})
{
    std::string out = R"({"tools":[)";
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (i != 0) out += ',';
        out += R"({"name":")" + std::string(1, names[i]) + R"(","inputSchema":{"type":"object"}})";
    }
    out += ']';
    if (!cursor.empty()) out += R"(,"nextCursor":)" + std::string(cursor);
    return out + '}';
}

std::string names_of(const comcp::tool_list& list)
{
    std::string out;
    for (const comcp::tool& each : list) out += each.name;
    return out;
}

comcp::client_options with_limits(std::size_t pages, std::size_t tools)
{
    comcp::client_options options;
    options.limits.pages = pages;
    options.limits.items = tools;
    return options;
}

comcp::client_options keeping_sources()
{
    comcp::client_options options;
    options.keep_source = true;
    return options;
}

} // namespace

TEST_CASE("All pages are read, and the cursor is sent back as it came")
{
    client_stage s;
    auto list = s.start(s.client.list_tools());
    const heard first = s.peer.expect("tools/list");
    CHECK(first.params().empty());
    first.reply(page("ab", R"("a \" b")"));
    const heard second = s.peer.expect("tools/list");
    CHECK(second.params().at("cursor").get_string() == "a \" b");
    second.reply(page("c", "null"));
    CHECK(names_of(list.value()) == "abc");
    CHECK(list.value().complete);
    CHECK(list.value().find("b"));
    CHECK_FALSE(list.value().find("d"));
    CHECK(s.peer.quiet());
}

TEST_CASE("What stands beside the items of pages is kept, and what later pages say of it counts")
{
    client_stage s;
    auto list = s.start(s.client.list_tools());
    s.peer.expect("tools/list").reply(R"({"tools":[],"nextCursor":"n","x":1,"y":2,"_meta":{"k":1}})");
    s.peer.expect("tools/list").reply(R"({"tools":[],"y":3})");
    CHECK(list.value().extra == parse(R"({"x":1,"y":3,"_meta":{"k":1}})"));
}

TEST_CASE("An empty cursor is a cursor [72]")
{
    client_stage s;
    auto list = s.start(s.client.list_tools());
    s.peer.expect("tools/list").reply(page("a", R"("")"));
    const heard second = s.peer.expect("tools/list");
    CHECK(second.params().at("cursor").get_string() == "");
    second.reply(page("b"));
    CHECK(names_of(list.value()) == "ab");
    CHECK(list.value().complete);
}

TEST_CASE("A cursor that comes again ends the list after two requests, without duplicates [71] [73]")
{
    const auto* cursor = GENERATE(R"("")", R"("a")");
    client_stage s;
    auto list = s.start(s.client.list_tools());
    s.peer.expect("tools/list").reply(page("a", cursor));
    s.peer.expect("tools/list").reply(page("ab", cursor));
    CHECK(names_of(list.value()) == "ab");
    CHECK_FALSE(list.value().complete);
    CHECK(has(list.value().why_partial, "repeated"));
    CHECK(s.peer.quiet());
}

TEST_CASE("A server that never ends is stopped at the budget of pages, exactly")
{
    client_stage s(with_limits(2, 100));
    auto list = s.start(s.client.list_tools());
    s.peer.expect("tools/list").reply(page("a", R"("1")"));
    SECTION("at the bound it is whole")
    {
        s.peer.expect("tools/list").reply(page("b"));
        CHECK(list.value().complete);
        CHECK(list.value().why_partial.empty());
    }
    SECTION("beyond it it is partial, and says so")
    {
        s.peer.expect("tools/list").reply(page("b", R"("2")"));
        CHECK_FALSE(list.value().complete);
        CHECK(has(list.value().why_partial, "2 pages"));
    }
    CHECK(names_of(list.value()) == "ab");
    CHECK(s.peer.quiet());
}

TEST_CASE("The budget of tools is kept exactly")
{
    client_stage s(with_limits(100, 3));
    auto list = s.start(s.client.list_tools());
    SECTION("at the bound it is whole")
    {
        s.peer.expect("tools/list").reply(page("abc"));
        CHECK(list.value().complete);
    }
    SECTION("one more is partial")
    {
        s.peer.expect("tools/list").reply(page("abcd", R"("1")"));
        CHECK_FALSE(list.value().complete);
        CHECK(has(list.value().why_partial, "3 tools"));
    }
    CHECK(names_of(list.value()) == "abc");
    CHECK(s.peer.quiet());
}

TEST_CASE("The bytes of a list are counted over all its pages, exactly")
{
    const std::string first = page("ab", R"("1")");
    const std::string second = page("cd", R"("2")");
    const auto answer_size = [](const std::string& result, int id) {
        return (R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"result":)" + result + '}').size();
    };
    const std::size_t both = answer_size(first, 2) + answer_size(second, 3);
    const bool fits = GENERATE(true, false);
    comcp::client_options options;
    options.limits.list_bytes = fits ? both + answer_size(page("e"), 4) : both - 1;
    client_stage s(std::move(options));
    auto list = s.start(s.client.list_tools());
    s.peer.expect("tools/list").reply(first);
    s.peer.expect("tools/list").reply(second);
    if (fits) {
        s.peer.expect("tools/list").reply(page("e"));
        CHECK(names_of(list.value()) == "abcde");
        CHECK(list.value().complete);
    } else {
        CHECK(names_of(list.value()) == "ab");
        CHECK_FALSE(list.value().complete);
        CHECK(list.value().why_partial == "more than " + std::to_string(both - 1) + " bytes of tools");
    }
    CHECK(s.peer.quiet());
}

TEST_CASE("The bytes of every kind of list are bounded")
{
    comcp::client_options options;
    options.limits.list_bytes = 100;
    client_stage s(std::move(options), "");
    s.shake_hands("2025-11-25", R"({"resources":{},"prompts":{}})");
    const std::string much(100, 'x');
    auto resources = s.start(s.client.list_resources());
    s.peer.expect("resources/list").reply(R"({"resources":[{"name":")" + much + R"(","uri":"a:b"}],"nextCursor":"1"})");
    CHECK(resources.value().empty());
    CHECK(resources.value().why_partial == "more than 100 bytes of resources");
    auto templates = s.start(s.client.list_resource_templates());
    s.peer.expect("resources/templates/list").reply(R"({"resourceTemplates":[],"nextCursor":")" + much + R"("})");
    CHECK(templates.value().why_partial == "more than 100 bytes of resourceTemplates");
    auto prompts = s.start(s.client.list_prompts());
    s.peer.expect("prompts/list").reply(R"({"prompts":[],"x":")" + much + R"("})");
    CHECK(prompts.value().why_partial == "more than 100 bytes of prompts");
    CHECK_FALSE(prompts.value().complete);
    CHECK(s.peer.quiet());
}

TEST_CASE("All pages together have the total time of one call")
{
    client_stage s;
    auto list = s.start(s.client.list_tools());
    s.peer.expect("tools/list").after(70s).reply(page("a", R"("1")"));
    const heard second = s.peer.expect("tools/list");
    second.after(50s - 1ms);
    SECTION("in time it is whole")
    {
        second.reply(page("b"));
        CHECK(names_of(list.value()) == "ab");
        CHECK(list.value().complete);
    }
    SECTION("a page that is late makes it partial, and says so")
    {
        CHECK_FALSE(list.done());
        s.advance(1ms);
        CHECK(names_of(list.value()) == "a");
        CHECK_FALSE(list.value().complete);
        CHECK(list.value().why_partial == "page 2 failed: no answer within the time limit");
        s.peer.expect("notifications/cancelled");
    }
    SECTION("a further page has what is left")
    {
        second.reply(page("b", R"("2")"));
        s.peer.expect("tools/list");
        s.advance(1ms);
        CHECK(names_of(list.value()) == "ab");
        CHECK_FALSE(list.value().complete);
        s.peer.expect("notifications/cancelled");
    }
    CHECK(s.peer.quiet());
}

TEST_CASE("A page that comes with the last moment of the list's time is its last, and the list says so")
{
    client_stage s;
    const bool more = GENERATE(true, false);
    comcp::timer last_moment(s.executor()); // before the deadline of the same moment
    std::optional<heard> first;
    last_moment.start(s.time.now() + 120s, [&] { first->reply(page("ab", more ? R"("1")" : "null")); });
    auto list = s.start(s.client.list_tools());
    first.emplace(s.peer.expect("tools/list"));
    s.advance(120s - 1ms);
    CHECK_FALSE(list.done());
    s.advance(1ms);
    CHECK(names_of(list.value()) == "ab");
    CHECK(list.value().complete == !more);
    CHECK(list.value().why_partial == (more ? "the time for the whole list is over" : ""));
    CHECK(s.peer.quiet()); // no further page is asked for, and nothing is cancelled
}

TEST_CASE("A tool that comes twice is listed once, as it came first")
{
    client_stage s;
    auto list = s.start(s.client.list_tools());
    s.peer.expect("tools/list")
        .reply(
            R"({"tools":[{"name":"a","description":"1","inputSchema":{}},{"name":"a","description":"2","inputSchema":{}}]})");
    CHECK(list.value().size() == 1);
    CHECK(list.value().find("a")->description == "1");
}

TEST_CASE("A bad tool is left out and named; the others are good [135]")
{
    const auto* bad = GENERATE(R"({"name":"bad","inputSchema":"x"})", R"({"name":5,"inputSchema":{}})", "7", "null",
                               R"({"inputSchema":{}})", R"({"name":"bad"})", R"({"name":"bad","inputSchema":null})");
    client_stage s;
    auto list = s.start(s.client.list_tools());
    s.peer.expect("tools/list")
        .reply(R"({"tools":[{"name":"a","inputSchema":{}},)" + std::string(bad) +
               R"(,{"name":"b","inputSchema":{},"outputSchema":{"$id":"a"}}]})");
    CHECK(names_of(list.value()) == "ab");
    CHECK(list.value().complete);
    CHECK(list.value().problems.size() == 1);
}

TEST_CASE("The list is asked for whatever was declared; no such method means no tools [66]")
{
    const auto* capabilities = GENERATE("{}", R"({"tools":{}})", R"({"prompts":{}})", "null", "7");
    client_stage s(comcp::client_options(), "");
    s.shake_hands("2025-11-25", capabilities);
    auto list = s.start(s.client.list_tools());
    s.peer.expect("tools/list").refuse(-32601, "Method not found");
    CHECK(list.value().empty());
    CHECK(list.value().complete);
}

TEST_CASE("A first page that fails is an error, a later one makes the list partial")
{
    client_stage s;
    auto list = s.start(s.client.list_tools());
    SECTION("refused")
    {
        s.peer.expect("tools/list").refuse(-32603, "broken");
        CHECK(list.failed_with(errc::refused));
    }
    SECTION("no page at all")
    {
        s.peer.expect("tools/list").reply(GENERATE("{}", R"({"tools":{}})", R"({"tools":null})"));
        CHECK(list.failed_with(errc::invalid_message));
        CHECK(s.client.connected());
    }
    SECTION("a later page is refused")
    {
        s.peer.expect("tools/list").reply(page("a", R"("1")"));
        s.peer.expect("tools/list").refuse(-32602, "Bad cursor");
        CHECK(names_of(list.value()) == "a");
        CHECK_FALSE(list.value().complete);
        CHECK(has(list.value().why_partial, "page 2"));
        CHECK(has(list.value().why_partial, "Bad cursor"));
    }
    SECTION("a later page never comes")
    {
        s.peer.expect("tools/list").reply(page("a", R"("1")"));
        s.peer.expect("tools/list");
        s.advance(120s);
        CHECK(names_of(list.value()) == "a");
        CHECK_FALSE(list.value().complete);
        s.peer.expect("notifications/cancelled");
    }
    SECTION("cancelled at a later page")
    {
        s.peer.expect("tools/list").reply(page("a", R"("1")"));
        s.peer.expect("tools/list");
        list.cancel();
        s.settle();
        CHECK(list.failed_with(errc::cancelled));
        s.peer.expect("notifications/cancelled");
    }
    CHECK(s.peer.quiet());
}

// ---- results
// ---------------------------------------------------------------------------------------------------------

TEST_CASE("A result is never an exception, whatever its shape [125] [122]")
{
    const auto [result, text] = GENERATE(table<std::string, std::string>({
        {R"({"content":[{"type":"error","text":"no"}]})", "no"},
        {R"({"toolResult":{"content":[]}})", ""},
        {R"({"toolResult":"plain"})", "plain"},
        {R"({"content":"plain"})", "plain"},
        {R"({"content":null})", ""},
        {R"({})", ""},
        {R"({"content":[],"structuredContent":[1,2]})", "[1,2]"},
        {R"({"content":[],"structuredContent":"x"})", "\"x\""},
        {R"({"content":[],"structuredContent":null})", ""},
    }));
    client_stage s;
    auto call = s.start(s.client.call("a"));
    s.peer.expect("tools/call").reply(result);
    CHECK(comcp::to_text(call.value()) == text);
    CHECK((!call.value().oddities.empty() || result.find("structured") != std::string::npos));
}

TEST_CASE("Text and structured content both reach the model, unless they say the same [121]")
{
    client_stage s;
    auto both = s.start(s.client.call("a"));
    s.peer.expect("tools/call")
        .reply(R"({"content":[{"type":"text","text":"2 items"}],"structuredContent":{"items":[1,2]}})");
    CHECK(comcp::to_text(both.value()) == "2 items\n{\"items\":[1,2]}");
    auto same = s.start(s.client.call("a"));
    s.peer.expect("tools/call")
        .reply(R"({"content":[{"type":"text","text":"{ \"items\": [1, 2] }"}],"structuredContent":{"items":[1,2]}})");
    CHECK(comcp::to_text(same.value()) == "{ \"items\": [1, 2] }");
}

TEST_CASE("Links and resources keep all they say as text [126]")
{
    client_stage s;
    auto call = s.start(s.client.call("a"));
    s.peer.expect("tools/call")
        .reply(
            R"({"content":[{"type":"resource_link","uri":"file:///l","name":"N","title":"T","mimeType":"m/t","size":5},)"
            R"({"type":"resource","resource":{"uri":"file:///t","text":"inlined"}},)"
            R"({"type":"resource","resource":{"uri":"file:///b","mimeType":"b/b","blob":"AAAA"}}]})");
    const std::string text = comcp::to_text(call.value());
    for (const auto* part : {"file:///l", "N", "T", "m/t", "5 bytes", "inlined", "file:///b", "b/b", "3 bytes"})
        CHECK(has(text, part));
}

TEST_CASE("Numbers keep their text where sources are kept [51] [52]")
{
    client_stage s(keeping_sources());
    auto call = s.start(s.client.call("a"));
    const std::string numbers = R"({"id":9007199254740993,"u":18446744073709551615,"f":1.0,"e":1E400,)"
                                R"("n":123456789012345678901234})";
    const std::string result = R"({"content":[],"structuredContent":)" + numbers + "}";
    s.peer.expect("tools/call").reply(result);
    CHECK(call.value().source == result);
    CHECK(comcp::to_text(call.value()) == numbers);
}

TEST_CASE("Arguments given as text go out as they are")
{
    client_stage s;
    auto call = s.start(
        s.client.call("a", comcp::args(comcp::raw_json(R"({"f":1.0,"e":1E400,"n":123456789012345678901234})"))));
    CHECK(has(s.peer.next(), R"("arguments":{"f":1.0,"e":1E400,"n":123456789012345678901234}})"));
}

// ---- output caps
// -----------------------------------------------------------------------------------------------------

TEST_CASE("A long result is cut for the model and says so; the result itself is whole [53]")
{
    client_stage s;
    auto call = s.start(s.client.call("a"));
    std::string text(20'000, 'a');
    text += "\u8A9E";
    s.peer.expect("tools/call").reply(text_result(text));
    const std::string shown = comcp::to_text(call.value());
    CHECK(shown.size() == 12'000);
    CHECK(has(shown, "of 20001 characters shown]"));
    CHECK(*call.value().content.at(0).as_text() == text);
    CHECK(comcp::flatten(call.value()) == text);
}
