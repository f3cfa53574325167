// Starts a program that inherits nothing from this one: no files, no terminal, no signal settings.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace slurm {

// Runs the command, a program's path and its arguments, in a new session from /, with its output
// appended to `log`, and waits for it to end; the program is expected to fork a process and to exit
// at once. Returns 0, or the error number when it could not be started.
int run_detached(std::vector<std::string> command, const std::filesystem::path& log);

}  // namespace slurm
