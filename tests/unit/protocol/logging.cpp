// SPDX-License-Identifier: MIT
#include <comcp/error.hpp>
#include <comcp/protocol/logging.hpp>

#include "catch.hpp"

TEST_CASE("each log level reads back from its text, and later ones are more severe", "[protocol]")
{
    REQUIRE(comcp::all_log_levels.size() == 8);
    for (std::size_t i = 0; i < comcp::all_log_levels.size(); ++i) {
        CHECK(comcp::parse_log_level(to_string(comcp::all_log_levels[i])) == comcp::all_log_levels[i]);
        if (i > 0) CHECK(comcp::all_log_levels[i - 1] < comcp::all_log_levels[i]);
    }
    CHECK(to_string(comcp::log_level::emergency) == "emergency");
    CHECK_FALSE(comcp::parse_log_level("Info"));
    CHECK_FALSE(comcp::parse_log_level(""));
}

TEST_CASE("a log message is read leniently", "[protocol]")
{
    const auto read = [](std::string_view text) {
        return comcp::read_log_message(comcp::parse_json(text, 64).value().as_object());
    };
    const auto full = read(R"({"level":"error","logger":"db","data":{"a":[1]}})");
    CHECK(full.level == comcp::log_level::error);
    CHECK(full.logger == "db");
    CHECK(full.data.at("a").at(0) == 1);

    const auto odd = read(R"({"level":"fatal","logger":null,"data":"text"})");
    CHECK(odd.level == comcp::log_level::info);
    CHECK(odd.logger.empty());
    CHECK(odd.data == "text");

    CHECK(read("{}").data.is_null());
}
