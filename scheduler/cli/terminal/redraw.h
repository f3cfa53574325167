// Draws a view repeatedly in the same place of a terminal.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "scheduler/cli/terminal/context.h"

namespace scheduler::cli {

// As much of a view as fits into `lines` lines; the last one says how many more there are. Pure.
std::string top_of(const std::string& text, int lines);

// Draws what `view` prints to the context that it gets, at intervals of `every` and whenever the
// terminal's size changes, until Ctrl-C or SIGTERM; then the terminal is restored. Without a
// terminal each view is printed below the last one.
Exit redraw(const Context& context, std::chrono::milliseconds every,
            const std::function<void(const Context&)>& view);

}  // namespace scheduler::cli
