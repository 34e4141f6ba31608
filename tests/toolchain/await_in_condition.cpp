// SPDX-License-Identifier: MIT
// g++ 12 lays out the frame of a coroutine wrongly when there is a co_await in the condition of an if, while, for, do
// or switch and the body declares no local variable anywhere: what makes the frame and what runs in it disagree about
// its size and about the places of the parameters, from the first line on. A local variable cures it, so the value of
// the co_await gets a name. tools/lib/check_coroutines.py refuses the other spelling even where it would be harmless,
// because the removal of an unrelated variable would make it harmful.
#include "task.hpp"

#include <memory>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace
{

using toolchain::answer;
using toolchain::task;

struct state
{
    int rounds = 0;
};

using parameter = std::shared_ptr<state>;

const state* seen = nullptr;

// ---- the spelling that this project uses

task named_if(parameter self)
{
    seen = self.get();
    const bool stop = co_await answer(true);
    if (stop) ++self->rounds;
}

task named_in_loop(parameter self)
{
    seen = self.get();
    while (self->rounds < 3) {
        co_await answer(true);
        const bool stop = co_await answer(self->rounds == 2);
        if (stop) throw std::runtime_error(std::string("te") + "xt");
        ++self->rounds;
    }
}

// ---- spellings that it avoids

task in_if(parameter self)
{
    seen = self.get();
    if (co_await answer(true)) ++self->rounds;
}

task in_while(parameter self)
{
    seen = self.get();
    while (co_await answer(self->rounds < 1)) ++self->rounds;
}

task in_for(parameter self)
{
    seen = self.get();
    for (; co_await answer(self->rounds < 1);) ++self->rounds;
}

task in_do(parameter self)
{
    seen = self.get();
    do ++self->rounds;
    while (co_await answer(false));
}

task in_switch(parameter self)
{
    seen = self.get();
    switch (static_cast<int>(co_await answer(true))) {
    case 1: ++self->rounds;
    }
}

task in_loop(parameter self)
{
    seen = self.get();
    while (self->rounds < 1) {
        co_await answer(true);
        if (co_await answer(false)) throw std::runtime_error(std::string("te") + "xt");
        ++self->rounds;
    }
}

task beside_variable(parameter self)
{
    const int step = 1;
    seen = self.get();
    if (co_await answer(true)) self->rounds += step;
}

/// The coroutine sees its parameter, comes to the expected end, and gives the parameter back.
bool works(task (*coroutine)(parameter), int rounds, bool ends_well)
{
    const parameter self = std::make_shared<state>();
    const bool ended = coroutine(self).run();
    return seen == self.get() && ended == ends_well && self->rounds == rounds && self.use_count() == 1;
}

/// The same in a child process, which may read and write beyond the frame and die of it.
bool works_in_child(task (*coroutine)(parameter))
{
    std::fflush(nullptr);
    const pid_t child = ::fork();
    if (child == 0) {
        ::close(STDERR_FILENO); // the report of a sanitizer
        ::alarm(20);
        ::_exit(works(coroutine, 1, true) ? 0 : 1);
    }
    int status = 0;
    return child > 0 && ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

} // namespace

int main()
{
    toolchain::checks check;
    check.that(works(named_if, 1, true), "a named value and an if");
    check.that(works(named_in_loop, 2, false), "a named value in a loop, and a throw");

    check.report("co_await in the condition of an if", !works_in_child(in_if));
    check.report("co_await in the condition of a while", !works_in_child(in_while));
    check.report("co_await in the condition of a for", !works_in_child(in_for));
    check.report("co_await in the condition of a do", !works_in_child(in_do));
    check.report("co_await in the condition of a switch", !works_in_child(in_switch));
    check.report("the same in a loop, before a throw", !works_in_child(in_loop));
    check.report("the same beside a local variable", !works_in_child(beside_variable));
    return check.end();
}
