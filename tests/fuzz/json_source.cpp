// SPDX-License-Identifier: MIT
// Whatever text parses as an object: the source text of each member parses to the member. Of any other text nothing is
// read beyond its end. What is written of the value reads back as the value.
#include <comcp/error.hpp>
#include <comcp/json/source.hpp>
#include <comcp/json/write.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace
{

void check(bool holds)
{
    if (!holds) std::abort();
}

/// Boost.JSON may round a double on its way, and reads what is beyond all doubles as infinity.
bool has_double(const comcp::json::value& value)
{
    if (const auto* array = value.if_array()) return std::any_of(array->begin(), array->end(), has_double);
    if (const auto* object = value.if_object()) {
        return std::any_of(object->begin(), object->end(), [](const auto& item) { return has_double(item.value()); });
    }
    return value.is_double();
}

std::string text_of(const comcp::json::value& value)
{
    std::string out;
    comcp::write_value(out, value);
    return out;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view text(reinterpret_cast<const char*>(data), size);

    std::string quoted;
    comcp::write_string(quoted, text);
    check(quoted.find('\n') == std::string::npos && comcp::parse_json(quoted, 1).has_value());

    comcp::member_source(text, "a");
    check(comcp::skip_value(text, 0) <= size);

    const auto parsed = comcp::parse_json(text, 64);
    if (!parsed || !parsed->is_object()) return 0;
    for (const auto& item : parsed->get_object()) {
        const auto source = comcp::member_source(text, std::string_view(item.key().data(), item.key().size()));
        check(source.has_value());
        const auto value = comcp::parse_json(*source, 64);
        check(value.has_value() && text_of(*value) == text_of(item.value())); // as text: 0E400 is not equal to itself
    }

    const std::string written = text_of(*parsed);
    const auto again = comcp::parse_json(written, 64);
    check(again.has_value() && written.find('\n') == std::string::npos);
    check(text_of(*again) == written || has_double(*parsed));
    return 0;
}
