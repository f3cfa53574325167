// A search of a second: a small micrograph of noise, a small template, and the real program.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/io/image.h"
#include "engine/io/volume.h"
#include "tests/program.h"

namespace tests {

// Deterministic noise.
engine::Image small_micrograph(int height = 48, int width = 64);
engine::Volume small_template(int size = 16);

// A folder with image.mrc, template.mrc and the sections of a configuration, which a test changes
// before it runs the program there.
class SmallSearch {
 public:
  SmallSearch();

  const std::string& folder() const { return folder_.path(); }
  std::string file(const std::string& name) const { return folder_ / name; }

  // Top-level keys and their YAML values.
  std::map<std::string, std::string> sections;
  // Where the eight maps go, relative to the folder.
  std::string results = "out";

  std::string yaml() const;
  void write_config(const std::string& name = "search.yaml") const;
  // Writes search.yaml, then runs `margay-engine match search.yaml MORE...` in the folder.
  Finished match(const std::vector<std::string>& more = {}) const;
  // Every file and folder with its size, to see what a run left.
  std::map<std::string, uintmax_t> contents() const;

 private:
  ScratchFolder folder_;
};

// Path of the program under test.
std::string engine_program();

}  // namespace tests
