// Implements add_selftest of commands.h: runs searches with known answers on this machine's device.
#include "engine/search/selftest.h"

#include <filesystem>
#include <iostream>

#include "base/selftest_text.h"
#include "engine/commands/commands.h"
#include "engine/commands/options.h"

namespace engine {
namespace {

struct SelftestCommand {
  std::string data;  // folder of the known answers; empty: the one that belongs to the program
  DeviceOptions device;
};

namespace fs = std::filesystem;

bool holds_answers(const fs::path& folder) {
  std::error_code ignored;  // a folder that cannot be seen holds none
  return fs::exists(folder / "lsu_crop.yaml", ignored);
}

// The folder of the known answers: the installed one beside the program, else the source tree's.
// Throws InputError where neither is on this machine.
std::string find_data() {
  std::error_code ignored;  // then the folder of the build is tried
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored);
  const fs::path installed =
      (program.parent_path() / "../share/margay/selftest").lexically_normal();
  for (const fs::path& folder : {installed, fs::path(MARGAY_SELFTEST_DATA)}) {
    if (holds_answers(folder)) return folder.string();
  }
  throw InputError(std::string(base::kNoKnownAnswers) + ": '" + installed.string() +
                   "' does not hold lsu_crop.yaml and its files; install margay-engine with its "
                   "folder share/margay/selftest, or name a folder that holds them with --data");
}

ExitCode run(const SelftestCommand& command) {
  if (!command.data.empty() && !holds_answers(command.data)) {
    throw InputError("--data: '" + command.data +
                     "' does not hold lsu_crop.yaml and its files; name the folder that does");
  }
  const std::string data = command.data.empty() ? find_data() : command.data;
  const SelftestResult result = run_selftest(data, command.device);
  for (const std::string& line : result.lines) std::cout << line << '\n';
  std::cout << (result.passed ? "passed" : "FAILED") << std::endl;
  // The input is known, so a wrong answer is a fault of this device or this build.
  return result.passed ? ExitCode::kDone : ExitCode::kDeviceFault;
}

}  // namespace

void add_selftest(CLI::App& app, ExitCode& code) {
  const auto [command, selftest] = add_command<SelftestCommand>(
      app, code, "selftest", "Run a search with a known answer on this machine: pass or fail",
      "Ends with status 70 when a planted particle is not found.\nExample:\n  "
      "margay-engine selftest --backend cpu",
      run);
  command
      .add_option("--data", selftest.data,
                  "Folder of the known answers (default: the installed one)")
      ->type_name("FOLDER");
  add_device_options(command, selftest.device);
}

}  // namespace engine
