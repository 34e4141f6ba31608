// SPDX-License-Identifier: MIT
// Whatever value is bound: `bind` says yes exactly when it names no mistake, and what it took is taken again after it
// was written.
#include <comcp/error.hpp>
#include <comcp/json/bind.hpp>
#include <comcp/json/schema.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace
{

enum class colour {
    red,
    blue,
};
BOOST_DESCRIBE_ENUM(colour, red, blue)

struct sample
{
    std::string s;
    std::optional<std::int8_t> i;
    std::uint64_t u = 7;
    bool b = true;
    colour c = colour::blue;
    std::vector<sample> l;
    std::optional<std::map<std::string, int>> m;
    std::optional<comcp::json::value> v;
};
BOOST_DESCRIBE_STRUCT(sample, (), (s, i, u, b, c, l, m, v))

comcp::notes schema_notes(const sample*)
{
    return comcp::notes().add("s", comcp::field().min_length(1).max_length(3)).add("i", comcp::field().minimum(-3));
}

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

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const auto parsed = comcp::parse_json(std::string_view(reinterpret_cast<const char*>(data), size), 64);
    if (!parsed) return 0;
    sample out;
    comcp::bind_errors errors;
    const bool good = comcp::bind(*parsed, out, errors);
    check(good == errors.empty() && good == errors.text().empty());
    check(errors.entries().size() <= comcp::bind_errors::most);

    std::string text;
    comcp::write_json(text, out);
    const auto again = comcp::parse_json(text, 64);
    check(again.has_value());
    if (!good) return 0;
    sample copy;
    check(comcp::bind(*again, copy, errors));
    std::string twice;
    comcp::write_json(twice, copy);
    check(twice == text || has_double(*parsed));
    return 0;
}
