// SPDX-License-Identifier: MIT
// Any text is judged without harm, and a message that was read is printed and read again as the same message.
#include <comcp/json/source.hpp>
#include <comcp/rpc/parse.hpp>
#include <comcp/rpc/print.hpp>
#include <comcp/rpc/scan.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace
{

using comcp::rpc::message;
using comcp::rpc::parsed;

void require(bool holds)
{
    if (!holds) std::abort();
}

void check_again(const message& msg)
{
    const auto source = [&](const char* key) { return comcp::member_source(msg.text, key).value_or(""); };
    std::string out;
    switch (msg.type) {
    case message::kind::request:
        comcp::rpc::write_request(out, msg.id, msg.method, msg.params ? source("params") : "");
        break;
    case message::kind::notification:
        comcp::rpc::write_notification(out, msg.method, msg.params ? source("params") : "");
        break;
    case message::kind::result: comcp::rpc::write_result(out, msg.id, source("result")); break;
    case message::kind::error:
        comcp::rpc::write_error(out, msg.has_id ? &msg.id : nullptr, 1, "m", source("error"));
        break;
    }
    require(out.find('\n') == out.npos && out.find('\r') == out.npos);
    static comcp::rpc::parser parser(128);
    const parsed& got = parser.parse(out);
    require(got.state == parsed::status::message && got.msg.type == msg.type);
    require(got.msg.has_id == msg.has_id && got.msg.method == msg.method);
    if (msg.has_id) require(got.msg.id == msg.id);
    if (msg.params) require(got.msg.params && *got.msg.params == *msg.params);
    if (msg.result) require(*got.msg.result == *msg.result);
    if (msg.error) require(got.msg.error->at("data") == *msg.error);

    // The scanner for messages over the limit agrees about a valid message.
    comcp::rpc::oversize_scanner scanner;
    scanner.feed(msg.text);
    const comcp::rpc::oversize_facts& facts = scanner.facts();
    const bool call = msg.type == message::kind::request || msg.type == message::kind::notification;
    require(facts.object && facts.has_method == call);
    require(facts.has_result == (msg.type == message::kind::result));
    require(facts.has_error == (msg.type == message::kind::error));
    if (msg.has_id && facts.id_known) require(facts.id == msg.id);
    if (msg.has_id && msg.id.text().size() <= 40) require(facts.id_known);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    static comcp::rpc::parser parser;
    const parsed& got = parser.parse(text);
    if (got.state == parsed::status::message) check_again(got.msg);
    for (const parsed& element : got.elements) {
        require(element.state == parsed::status::message || element.state == parsed::status::invalid);
        if (element.state == parsed::status::message) check_again(element.msg);
    }
    return 0;
}
