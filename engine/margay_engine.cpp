// The main function of margay-engine. Its subcommands are in engine/commands.
#include <exception>
#include <new>
#include <string>

#include "engine/commands/commands.h"

int main(int argc, char** argv) {
  using engine::ExitCode;
  ExitCode code = ExitCode::kDeviceFault;
  try {
    return engine::run_command_line(argc, argv);
  } catch (const engine::Error& error) {
    engine::print_message(error.what());
    code = error.code();
  } catch (const std::bad_alloc&) {
    engine::print_message("out of memory; give a smaller --memory or --batch, or fewer --threads");
    code = ExitCode::kDeviceMemory;
  } catch (const std::exception& error) {
    engine::print_message(std::string("unexpected failure, please report it: ") + error.what());
  }
  return static_cast<int>(code);
}
