// The manual page and the completion of a program whose options CLI11 reads, from those options.
#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

#include "base/command_pages.h"

namespace base {

// What a validator that accepts certain words alone is named, so that the completion knows them.
std::string name_of_words(const std::vector<std::string>& words);

// Hidden options and commands are left out.
PageCommand page_of(CLI::App& app);

// Adds the hidden options --man-page and --bash-completion, which print the page, in `section`, and
// the script. `app` must outlive the parsing.
void add_page_options(CLI::App& app, int section, const std::vector<std::string>& see_also);

}  // namespace base
