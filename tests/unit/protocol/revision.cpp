// SPDX-License-Identifier: MIT
#include <comcp/protocol/revision.hpp>

#include "catch.hpp"

using comcp::revision;

TEST_CASE("each revision reads back from its text, and later ones compare greater", "[protocol]")
{
    REQUIRE(comcp::all_revisions.size() == 4);
    for (std::size_t i = 0; i < comcp::all_revisions.size(); ++i) {
        const revision r = comcp::all_revisions[i];
        CHECK(comcp::parse_revision(to_string(r)) == r);
        if (i > 0) {
            CHECK(comcp::all_revisions[i - 1] < r);
            CHECK(to_string(comcp::all_revisions[i - 1]) < to_string(r));
        }
    }
    CHECK(to_string(revision::r2024_11_05) == "2024-11-05");
    CHECK(to_string(revision::r2025_03_26) == "2025-03-26");
    CHECK(to_string(revision::r2025_06_18) == "2025-06-18");
    CHECK(to_string(comcp::latest_legacy) == "2025-11-25");
}

TEST_CASE("a version text that is not known exactly is no revision", "[protocol]")
{
    for (const char* text : {"", "2025-11-2", "2025-11-25 ", " 2025-11-25", "2025-11-250", "1999-01-01", "2099-01-01",
                             "2026-07-28", "20250618", "nonsense"}) {
        CHECK_FALSE(comcp::parse_revision(text));
    }
}
