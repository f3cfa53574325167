// A real process of a test: started with arguments and a folder, signalled, waited for.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "tests/scratch_folder.h"

namespace tests {

struct Finished {
  int exit_code = -1;  // -1: ended by a signal
  int signal = 0;
  std::string output;  // standard output
  std::string error;   // standard error
};

class Program {
 public:
  // `arguments[0]` is the program's path. Standard input is empty. Throws when it cannot start.
  Program(const std::vector<std::string>& arguments, const std::string& folder,
          const std::vector<std::string>& extra_environment = {});
  ~Program();  // kills what still runs
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  pid_t pid() const { return pid_; }
  void signal(int number) const;
  bool running();
  Finished wait();
  // What it has written to standard error; empty once it has ended.
  std::string error_so_far() const;

 private:
  void collect(int status);

  pid_t pid_ = -1;
  std::string output_path_, error_path_;
  std::optional<Finished> finished_;
};

// Start and wait.
Finished run_program(const std::vector<std::string>& arguments, const std::string& folder,
                     const std::vector<std::string>& extra_environment = {});

// A file of /proc; what cannot be read any more, since its process is gone, is empty.
std::string text_of_process(const std::string& path);

// For a command that is to run as `user`: what stands before it. Empty when that is who we are, or
// no name.
std::vector<std::string> become(const std::string& user);
// Makes a file `user`'s own; nothing to do when we are not root.
void give_file(const std::string& path, const std::string& user);

}  // namespace tests
