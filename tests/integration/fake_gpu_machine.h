// A machine with a GPU whose programs are all fakes (tests/fakes/fake_gpu_machine.sh), and the real
// tools/gpu-check on it, from a package that is unpacked. Time passes only where a fake lets it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/json.h"
#include "tests/program.h"
#include "tests/scratch_folder.h"

namespace tests {

constexpr const char* kPython = "/usr/bin/python3";

class FakeGpuMachine {
 public:
  using Strings = std::vector<std::string>;

  FakeGpuMachine();

  // A fake at this path: "path/ncu" is in PATH, which has nothing else than fakes and the shell's
  // tools; "package/bin/gpu_test" is in the package.
  void add(const std::string& path) const;
  void remove(const std::string& path) const;
  // What this program does before what it always does; where it exits, instead of that.
  void script(const std::string& name, const std::string& text) const;
  // The package becomes build/gpu of a source tree, whose commit git says, and whose gpu-check
  // runs.
  void move_into_a_tree();
  std::string file(const std::string& name) const { return scratch_ / name; }

  Finished check(const Strings& arguments = {}, const Strings& more_environment = {}) const;
  // The same in a shell, between these words.
  Finished check_in_shell(const std::string& before, const std::string& after) const;
  std::unique_ptr<Program> start(const Strings& arguments = {}) const;

  // The results' file with this extension; empty where there is none.
  std::string result(const std::string& extension) const;
  // Throws where it is not JSON.
  nlohmann::json json() const { return nlohmann::json::parse(result(".json")); }
  std::string log() const { return result(".log"); }
  // Every call of a program: its name and its arguments.
  Strings calls() const;

 private:
  Strings command(const Strings& arguments, const Strings& more_environment) const;

  ScratchFolder scratch_;
  std::string check_ = "package/gpu-check";
};

}  // namespace tests
