// SPDX-License-Identifier: MIT
// A host without exceptions and RTTI: from bytes to requests, from arguments to a struct, and back to bytes, with the
// headers that do no I/O. What goes wrong is a value everywhere. The exit code tells whether the answers are right.
#include "pure_headers.hpp" // made by tools/lib/check_layers.py --pure: every such header that there is

#include <boost/describe.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>

#if defined(__cpp_exceptions) || defined(__cpp_rtti)
#error "compile this with -fno-exceptions -fno-rtti"
#endif

// What Boost asks of a program without exceptions.
void boost::throw_exception(const std::exception&) { std::abort(); }
void boost::throw_exception(const std::exception&, const boost::source_location&) { std::abort(); }
// And comcp: it is reached by value() of a fault.
[[noreturn]] void comcp::throw_fault(comcp::fault) { std::abort(); }

namespace
{

struct sum_args
{
    int a = 0;
    int b = 0;
};
BOOST_DESCRIBE_STRUCT(sum_args, (), (a, b))

struct sum_answer
{
    int sum = 0;
};
BOOST_DESCRIBE_STRUCT(sum_answer, (), (sum))

void answer(std::string& out, const comcp::rpc::parsed& got)
{
    if (got.state != comcp::rpc::parsed::status::message) {
        comcp::rpc::write_error(out, got.id_known ? &got.id : nullptr, comcp::rpc_code::parse_error, got.why);
    } else if (got.msg.method != "sum" || !got.msg.params) {
        comcp::rpc::write_error(out, &got.msg.id, comcp::rpc_code::method_not_found, "no such method");
    } else {
        sum_args args;
        comcp::bind_errors errors;
        if (comcp::bind(*got.msg.params, args, errors)) {
            std::string result;
            comcp::write_json(result, sum_answer{args.a + args.b});
            comcp::rpc::write_result(out, got.msg.id, result);
        } else {
            comcp::rpc::write_error(out, &got.msg.id, comcp::rpc_code::invalid_params, errors.text());
        }
    }
    out += '\n';
}

std::string answers(std::string_view input)
{
    comcp::line_reader reader;
    comcp::rpc::parser parser;
    std::string out;
    while (!input.empty()) {
        const auto space = reader.prepare();
        const std::size_t size = std::min(space.size(), input.size());
        std::copy_n(input.data(), size, space.data());
        reader.commit(size);
        input.remove_prefix(size);
        comcp::frame frame;
        while (reader.next(frame)) answer(out, parser.parse(frame.text));
    }
    return out;
}

} // namespace

int main()
{
    const std::string got = answers(R"({"jsonrpc":"2.0","id":1,"method":"sum","params":{"a":2,"b":40}}
{"jsonrpc":"2.0","id":"x","method":"sum","params":{"a":"2","b":1.5}}
{"jsonrpc":"2.0","id":3,"method":"product"}
{"jsonrpc":
)");
    const std::string_view expected = R"({"jsonrpc":"2.0","id":1,"result":{"sum":42}}
{"jsonrpc":"2.0","id":"x","error":{"code":-32602,"message":"/a: expected integer, got string\n/b: expected integer, got number"}}
{"jsonrpc":"2.0","id":3,"error":{"code":-32601,"message":"no such method"}}
{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"incomplete JSON at byte 11"}}
)";
    std::fputs(got.c_str(), stdout);
    return got == expected ? EXIT_SUCCESS : EXIT_FAILURE;
}
