// Makes a program's manual page and bash completion from its CLI11 options.
#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

#include "base/command_pages.h"

namespace base {

// The name to give a validator that accepts only these words: page_of() reads them from it.
std::string name_of_words(const std::vector<std::string>& words);

// Describes the program without its hidden options and commands.
PageCommand page_of(CLI::App& app);

// Adds two hidden options: --man-page prints the manual page, which belongs to `section`, and
// --bash-completion prints the script. `app` must outlive the parsing.
void add_page_options(CLI::App& app, int section, const std::vector<std::string>& see_also);

}  // namespace base
