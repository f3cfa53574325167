// margayd's command line.
#pragma once

#include <CLI/App.hpp>
#include <string>

namespace scheduler {

struct Options {
  std::string state{};
  std::string config{};
  bool doctor = false;
  bool init = false;
  std::string init_file = "margayd.yaml";
  std::string backup{};  // file for a backup; empty: no backup
};

// Adds the options to the program's parser; `options` must outlive it.
void add_options(CLI::App& app, Options& options);

// Returns what to do instead of giving `name` as a file without --init.
std::string without_init(const std::string& name);

}  // namespace scheduler
