// SPDX-License-Identifier: MIT
//
// Arguments and results are plain structs: the schemas are made from them, and what does not fit is answered before the
// handler runs, with every mistake named. Server and client are in one process, joined by a pipe in memory.
// expect: "maximum":90.*"highs".*"station":"nearest".*/days.*/in.*
#include <comcp/stdio.hpp>
#include <comcp/transport/memory.hpp>

#include <iostream>

enum class unit { kelvin, celsius, fahrenheit }; // in JSON: the names, as strings
BOOST_DESCRIBE_ENUM(unit, kelvin, celsius, fahrenheit)

struct place // notes beside a type hold wherever it is used
{
    double latitude, longitude;
};
BOOST_DESCRIBE_STRUCT(place, (), (latitude, longitude))
comcp::notes schema_notes(const place*)
{
    comcp::notes of;
    of.add("latitude", comcp::field("Degrees north").minimum(-90).maximum(90));
    of.add("longitude", comcp::field("Degrees east").minimum(-180).maximum(180));
    return of;
}

struct forecast_args
{
    place at;                           // required, like everything without a default
    int days = 3;                       // may be left out; a zero would be no default
    unit in = unit::celsius;            // so may this
    std::optional<std::string> station; // may be left out, and has no default
};
BOOST_DESCRIBE_STRUCT(forecast_args, (), (at, days, in, station))

struct forecast
{
    std::string station;
    std::vector<double> highs;
};
BOOST_DESCRIBE_STRUCT(forecast, (), (station, highs))

forecast predict(forecast_args asked)
{
    if (asked.at.latitude > 80) throw comcp::tool_error("no station is that far north"); // for the model to read
    forecast made;
    made.station = asked.station.value_or("nearest");
    for (int day = 0; day < asked.days; ++day) made.highs.push_back(20.5 + day + (asked.in == unit::kelvin ? 273 : 0));
    return made; // becomes structuredContent, and a copy of it as text
}

comcp::task<void> use(comcp::server& server)
{
    comcp::memory_pipe pipe(co_await comcp::asio::this_coro::executor);
    comcp::asio::co_spawn(co_await comcp::asio::this_coro::executor, server.serve(std::move(pipe.second)),
                          comcp::asio::detached);
    comcp::client client(std::move(pipe.first), comcp::identity("example", "1.0.0"));
    co_await client.connect();
    for (const comcp::tool& t : co_await client.list_tools())
        std::cout << t.input_schema << '\n' << *t.output_schema << '\n';

    forecast_args asked; // the same structs serve the client
    asked.at = {52.5, 13.4};
    asked.days = 2;
    const auto good = co_await client.call("forecast", comcp::args(asked));
    const auto bad = co_await client.call("forecast", comcp::args("at", asked.at, "days", 99, "in", "rankine"));
    std::cout << comcp::to_text(good) << '\n' << comcp::to_text(bad) << '\n';
    co_await client.close();
    if (good.is_error || !bad.is_error || good.structured->at("highs").as_array().size() != 2)
        throw std::runtime_error("that was not expected");
}

int main()
{
    comcp::server server("weather", "1.0.0");
    server.tool("forecast", "Highest temperatures of the next days", predict)
        .field("days", comcp::field("How many days").minimum(1).maximum(14));
    return comcp::run(use(server));
}
