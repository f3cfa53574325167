// A view that is drawn again and again in the same place of a terminal.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "scheduler/cli/context.h"

namespace scheduler::cli {

// As much of a view as fits into so many lines; the last one says how many more there are. Pure.
std::string top_of(const std::string& text, int lines);

// Draws what `view` prints to the context that it is given, every so often and whenever the
// terminal changes its size, until Ctrl-C or SIGTERM; the terminal is then as it was before. A view
// that is not for a terminal is printed each time below the last one.
Exit redraw(const Context& context, std::chrono::milliseconds every,
            const std::function<void(const Context&)>& view);

}  // namespace scheduler::cli
