// SPDX-License-Identifier: MIT
#include <comcp/http/event_store.hpp>
#include <comcp/server/session_store.hpp>

#include "catch.hpp"

#include <deque>
#include <map>
#include <set>

using comcp::http::event_store_limits;
using comcp::http::memory_event_store;
using comcp::http::replay;
using comcp::http::replay_state;

namespace
{

std::string messages(const replay& r)
{
    std::string out;
    for (const auto& event : r.events) out += event.id + '=' + std::string(event.message) + ' ';
    return out;
}

} // namespace

TEST_CASE("a resume gets what followed on its own stream, with the ids it was sent with", "[event_store]")
{
    memory_event_store store("t");
    const auto a = store.open();
    const auto b = store.open();
    CHECK(store.append(a, "") == "t-1-1");
    CHECK(store.append(b, "B1") == "t-2-1");
    CHECK(store.append(a, "A2") == "t-1-2");
    CHECK(store.append(b, "B2") == "t-2-2");
    CHECK(store.append(a, "A3") == "t-1-3");

    const replay all = store.replay_after("t-1-1");
    CHECK(all.state == replay_state::found);
    CHECK(all.stream == a);
    CHECK_FALSE(all.finished);
    CHECK(messages(all) == "t-1-2=A2 t-1-3=A3 ");
    CHECK(messages(store.replay_after("t-1-2")) == "t-1-3=A3 ");
    CHECK(messages(store.replay_after("t-2-1")) == "t-2-2=B2 ");
    CHECK(messages(store.replay_after("t-2-0")) == "t-2-1=B1 t-2-2=B2 ");

    const replay none = store.replay_after("t-1-3");
    CHECK(none.state == replay_state::found);
    CHECK(none.events.empty());
}

TEST_CASE("a priming event takes an id of its own and is not replayed", "[event_store]")
{
    memory_event_store store("t");
    const auto s = store.open();
    store.append(s, "A");
    CHECK(store.append(s, "") == "t-1-2");
    store.append(s, "B");
    CHECK(messages(store.replay_after("t-1-0")) == "t-1-1=A t-1-3=B ");
    CHECK(messages(store.replay_after("t-1-2")) == "t-1-3=B ");
}

TEST_CASE("STREAM 97: what comes while nobody is connected and after the last message is kept", "[event_store]")
{
    memory_event_store store("t");
    const auto s = store.open();
    const std::string seen = store.append(s, "progress");
    store.append(s, "reply");
    store.finish(s);
    store.finish(s);
    const replay r = store.replay_after(seen);
    CHECK(r.state == replay_state::found);
    CHECK(r.finished);
    CHECK(messages(r) == "t-1-2=reply ");
}

TEST_CASE("STREAM 98: ids of other sessions, of no stream, and never given are refused", "[event_store]")
{
    memory_event_store mine("tag1");
    memory_event_store other("tag2");
    const auto s = mine.open();
    mine.append(s, "secret");
    const auto o = other.open();
    const std::string foreign = other.append(o, "theirs");

    CHECK(mine.replay_after(foreign).state == replay_state::malformed);
    CHECK(mine.replay_after("tag1-2-0").state == replay_state::unknown);
    CHECK(mine.replay_after("tag1-0-0").state == replay_state::unknown);
    CHECK(mine.replay_after("tag1-1-2").state == replay_state::unknown);
    CHECK(mine.replay_after("tag1-1-18446744073709551615").state == replay_state::unknown);
    CHECK(mine.replay_after("tag1-1-1").state == replay_state::found);
    CHECK(mine.replay_after("tag1-2-0").events.empty());
}

TEST_CASE("an id of a peer may be any text", "[event_store]")
{
    memory_event_store store("t");
    store.append(store.open(), "A");
    for (const char* text : {"",
                             "t",
                             "t-",
                             "t-1",
                             "t-1-",
                             "t--1",
                             "t-1-1 ",
                             " t-1-1",
                             "t-1-1-1",
                             "t-01-1",
                             "t-1-01",
                             "t-+1-1",
                             "t--1-1",
                             "t-1-18446744073709551616",
                             "t-99999999999999999999999-1",
                             "x-1-1",
                             "T-1-1",
                             "t-0x1-1",
                             "1-1",
                             "t1-1"}) {
        CAPTURE(text);
        CHECK(store.replay_after(text).state == replay_state::malformed);
    }
    CHECK(store.replay_after(std::string(1'000'000, '1')).state == replay_state::malformed);
    CHECK(store.replay_after(std::string("t-1-1\0", 6)).state == replay_state::malformed);
}

TEST_CASE("ids are unique across all streams", "[event_store]")
{
    memory_event_store store("t");
    std::set<std::string> ids;
    for (int stream = 0; stream < 30; ++stream) {
        const auto s = store.open();
        for (int n = 0; n < 30; ++n) ids.insert(store.append(s, "x"));
    }
    CHECK(ids.size() == 900);
}

TEST_CASE("beyond the number of events the oldest are gone, and a resume past them is told so", "[event_store]")
{
    memory_event_store store("t", {.events = 3});
    const auto s = store.open();
    for (const char* text : {"1", "2", "3", "4", "5"}) store.append(s, text);
    CHECK(messages(store.replay_after("t-1-2")) == "t-1-3=3 t-1-4=4 t-1-5=5 ");
    CHECK(store.replay_after("t-1-2").state == replay_state::found);
    CHECK(store.replay_after("t-1-1").state == replay_state::gone);
    CHECK(store.replay_after("t-1-0").state == replay_state::gone);
    CHECK(store.replay_after("t-1-1").events.empty());
    CHECK(store.bytes() == 3 * 65);
}

TEST_CASE("beyond the bytes of a stream the oldest are gone", "[event_store]")
{
    memory_event_store store("t", {.stream_bytes = 200});
    const auto s = store.open();
    store.append(s, std::string(36, 'a'));
    store.append(s, std::string(36, 'b'));
    CHECK(store.bytes() == 200);
    store.append(s, "c");
    CHECK(store.bytes() == 165);
    CHECK(store.replay_after("t-1-0").state == replay_state::gone);
    CHECK(store.replay_after("t-1-1").events.size() == 2);
}

TEST_CASE("a message that is over the bound alone is not kept, and the ones before it neither", "[event_store]")
{
    memory_event_store store("t", {.stream_bytes = 200});
    const auto s = store.open();
    store.append(s, "a");
    CHECK(store.append(s, std::string(137, 'x')) == "t-1-2");
    CHECK(store.bytes() == 0);
    CHECK(store.replay_after("t-1-1").state == replay_state::gone);
    CHECK(store.replay_after("t-1-2").state == replay_state::found);
    CHECK(store.append(s, std::string(136, 'x')) == "t-1-3");
    CHECK(store.bytes() == 200);
    CHECK(store.replay_after("t-1-1").state == replay_state::gone);
    CHECK(store.replay_after("t-1-2").events.size() == 1);
}

TEST_CASE("finished streams are kept up to their number, then the one that finished first goes", "[event_store]")
{
    memory_event_store store("t", {.finished_streams = 2});
    for (int i = 0; i < 3; ++i) store.append(store.open(), "x");
    store.finish(2);
    store.finish(1);
    CHECK(store.streams() == 3);
    store.finish(3);
    CHECK(store.streams() == 2);
    CHECK(store.replay_after("t-2-0").state == replay_state::unknown);
    CHECK(store.replay_after("t-1-0").state == replay_state::found);
    CHECK(store.replay_after("t-3-0").state == replay_state::found);
    CHECK(store.bytes() == 2 * 65);
}

TEST_CASE("the budget of the session takes finished streams first, then from the largest stream", "[event_store]")
{
    memory_event_store store("t", {.stream_bytes = 1000, .session_bytes = 1000});
    const auto done = store.open();
    const auto small = store.open();
    const auto large = store.open();
    store.append(done, std::string(136, 'd'));  // 200 with its share
    store.append(small, std::string(36, 's'));  // 100
    store.append(large, std::string(286, 'l')); // 350
    store.append(large, std::string(286, 'l')); // 350: 1000 in all
    store.finish(done);
    CHECK(store.bytes() == 1000);

    store.append(small, std::string(36, 's'));
    CHECK(store.bytes() == 900);
    CHECK(store.replay_after("t-1-0").state == replay_state::unknown);

    store.append(small, std::string(137, 's'));
    CHECK(store.bytes() == 751);
    CHECK(store.replay_after("t-2-0").events.size() == 3);
    CHECK(store.replay_after("t-3-0").state == replay_state::gone);
    CHECK(store.replay_after("t-3-1").events.size() == 1);
}

TEST_CASE("a store stays within its budget whatever is appended", "[event_store]")
{
    memory_event_store store("t", {.events = 20, .stream_bytes = 3000, .session_bytes = 8000, .finished_streams = 3});
    unsigned seed = 1;
    const auto below = [&](unsigned n) { return (seed = seed * 1103515245U + 12345U, (seed >> 16U) % n); };
    std::vector<std::uint64_t> open;
    for (int step = 0; step < 20'000; ++step) {
        if (open.size() < 5) open.push_back(store.open());
        const std::size_t which = below(static_cast<unsigned>(open.size()));
        store.append(open[which], std::string(below(10) == 0 ? below(4000) : below(200), 'x'));
        if (below(50) == 0) {
            below(2) == 0 ? store.finish(open[which]) : store.drop(open[which]);
            open.erase(open.begin() + static_cast<std::ptrdiff_t>(which));
        }
        REQUIRE(store.bytes() <= 8000);
        REQUIRE(store.streams() <= 8);
    }
    while (store.streams() != 0) {
        for (std::uint64_t id = 1; id <= 2000; ++id) store.drop(id);
    }
    CHECK(store.bytes() == 0);
}

TEST_CASE("a finished stream that alone is over the budget is dropped", "[event_store]")
{
    memory_event_store store("t", {.session_bytes = 150});
    const auto s = store.open();
    store.append(s, "a");
    store.finish(s);
    store.append(s, std::string(40, 'b'));
    CHECK(store.bytes() == 0);
    CHECK(store.streams() == 0);
    CHECK(store.append(s, "c") == "t-1-0");
}

TEST_CASE("a dropped stream is unknown at once", "[event_store]")
{
    memory_event_store store("t");
    const auto s = store.open();
    store.append(s, "a");
    store.finish(s);
    store.drop(s);
    store.drop(s);
    store.finish(s);
    CHECK(store.bytes() == 0);
    CHECK(store.replay_after("t-1-0").state == replay_state::unknown);
}

namespace
{

/// Keeps what it is told, as a store elsewhere does.
struct mirror final : comcp::http::stream_journal
{
    std::map<std::string, comcp::stored_stream> streams;
    std::string seen;

    void note(comcp::http::stream_change change) override
    {
        using kind = comcp::http::stream_change::kind;
        const auto what = change.what;
        seen += what == kind::opened ? 'o' : what == kind::kept ? 'k' : what == kind::finished ? 'f' : 'd';
        if (what == kind::dropped) streams.erase(change.stream);
        else streams[change.stream].apply(std::move(change));
    }
};

} // namespace

TEST_CASE("a journal is told of everything, in order", "[event_store]")
{
    memory_event_store store("t", {.events = 2, .stream_bytes = 300});
    mirror told;
    store.report_to(&told);
    const auto s = store.open("7");
    store.append(s, "");
    store.append(s, "a");
    CHECK(told.seen == "okk");
    const comcp::stored_stream& kept = told.streams.at("t-1");
    CHECK(kept.owes == "7");
    CHECK(kept.last == 2);
    CHECK(kept.events == std::deque<std::string>{"", "a"});
    store.append(s, "b");
    CHECK(kept.events == std::deque<std::string>{"a", "b"});
    store.append(s, std::string(300, 'x')); // too long to be kept, and nothing before it either
    CHECK(kept.last == 4);
    CHECK(kept.events.empty());
    store.append(s, "c");
    CHECK(kept.last == 5);
    CHECK(kept.events == std::deque<std::string>{"c"});
    CHECK_FALSE(kept.finished);
    store.finish(s);
    CHECK(kept.finished);
    store.drop(s);
    CHECK(told.seen == "okkkkkfd");
    CHECK(told.streams.empty());

    store.report_to(nullptr);
    store.append(store.open(), "d");
    CHECK(told.streams.empty());
}

TEST_CASE("what a journal keeps is never less than the store, and as bounded", "[event_store]")
{
    memory_event_store store("t", {.events = 20, .stream_bytes = 3000, .session_bytes = 8000, .finished_streams = 3});
    mirror told;
    store.report_to(&told);
    unsigned seed = 1;
    const auto below = [&](unsigned n) { return (seed = seed * 1103515245U + 12345U, (seed >> 16U) % n); };
    std::vector<std::uint64_t> open;
    for (int step = 0; step < 5'000; ++step) {
        if (open.size() < 5) open.push_back(store.open());
        const std::size_t which = below(static_cast<unsigned>(open.size()));
        store.append(open[which], std::string(1 + below(below(10) == 0 ? 4000 : 200), 'x'));
        if (below(50) == 0) {
            store.finish(open[which]);
            open.erase(open.begin() + static_cast<std::ptrdiff_t>(which));
        }
        REQUIRE(told.streams.size() == store.streams());
        for (const auto& [name, kept] : told.streams) {
            REQUIRE(kept.events.size() <= 20);
            std::uint64_t from = 0; // the first place that the store can replay from
            while (store.replay_after(name + '-' + std::to_string(from)).state == replay_state::gone) ++from;
            const auto replay = store.replay_after(name + '-' + std::to_string(from));
            REQUIRE(replay.state == replay_state::found);
            REQUIRE(kept.last == from + replay.events.size());
            REQUIRE(kept.events.size() >= replay.events.size());
            for (std::size_t i = 0; i < replay.events.size(); ++i)
                REQUIRE(kept.events[kept.events.size() - replay.events.size() + i] == replay.events[i].message);
        }
    }
}

TEST_CASE("a stream that is kept elsewhere never has a gap", "[event_store]")
{
    using comcp::http::stream_change;
    comcp::stored_stream kept;
    kept.apply({stream_change::kind::kept, "s", 1, 1, "a"});
    kept.apply({stream_change::kind::kept, "s", 3, 1, "c"});
    CHECK(kept.last == 3);
    CHECK(kept.events == std::deque<std::string>{"c"});
}

TEST_CASE("an event's id names its stream and its number", "[event_store]")
{
    using comcp::http::split_event_id;
    const auto parts = split_event_id("tag-12-345");
    REQUIRE(parts.has_value());
    CHECK(parts->stream == "tag-12");
    CHECK(parts->sequence == 345);
    CHECK(split_event_id("a-0").has_value());
    for (const char* none : {"", "-", "-1", "a", "a-", "a-01", "a-x", "a-1x", "a--", "a-18446744073709551616", "a-+1"})
        CHECK_FALSE(split_event_id(none).has_value());
}
