// SPDX-License-Identifier: MIT
// g++ 12 destroys twice, in silence, an aggregate temporary and a lambda whose capture has a destructor when they are
// written inside an expression with co_await. (It also rejects `co_await f({{"k", "v"}})`, and a capture that is
// initialised with a braced list: "array used as initializer".) What an operation takes is therefore a class with
// constructors and setters; an aggregate or a callable gets a name before the co_await.
#include "task.hpp"

#include <functional>
#include <string>

namespace
{

using toolchain::answer;
using toolchain::task;

int live = 0; // objects that were made and not yet destroyed: less than none after a second destruction

struct counted
{
    counted() { ++live; }
    counted(const counted&) { ++live; }
    counted& operator=(const counted&) = default;
    ~counted() { --live; }
};

struct aggregate
{
    counted member;
    int number = 0;
};

class options
{
public:
    options() = default;
    options& number(int value)
    {
        number_ = value;
        return *this;
    }
    int number() const { return number_; }

private:
    counted member_;
    int number_ = 0;
};

template <class T>
answer take(const T&)
{
    return answer(true);
}

aggregate make_aggregate() { return {}; }

// ---- the spellings that this project uses

task constructor() { co_await take(options()); }
task setters() { co_await take(options().number(3)); }
task returned() { co_await take(make_aggregate()); }
task named_aggregate()
{
    const aggregate named{counted(), 3};
    co_await take(named);
}
task named_lambda()
{
    counted kept;
    const auto named = [kept] { (void)kept; };
    co_await take(named);
}
task by_reference()
{
    counted kept;
    co_await take([&kept] { (void)kept; });
}
task moved()
{
    aggregate named{counted(), 3};
    co_await take(std::move(named));
}

// ---- the spellings that it avoids

task aggregate_temporary() { co_await take(aggregate{counted(), 3}); }
task capturing_lambda()
{
    counted kept;
    co_await take([kept] { (void)kept; });
}
task lambda_in_class()
{
    counted kept;
    co_await take(std::function<void()>([kept] { (void)kept; }));
}

bool balanced(task (*coroutine)())
{
    live = 0;
    const bool ended = coroutine().run();
    return ended && live == 0;
}

} // namespace

int main()
{
    toolchain::checks check;
    check.that(balanced(constructor), "a class with a constructor");
    check.that(balanced(setters), "chained setters");
    check.that(balanced(returned), "an aggregate that a function returns");
    check.that(balanced(named_aggregate), "a named aggregate");
    check.that(balanced(named_lambda), "a named lambda");
    check.that(balanced(by_reference), "a lambda that captures by reference");
    check.that(balanced(moved), "a named aggregate that is moved from");

    check.report("aggregate temporary", !balanced(aggregate_temporary));
    check.report("capturing lambda", !balanced(capturing_lambda));
    check.report("capturing lambda in a class", !balanced(lambda_in_class));
    return check.end();
}
