// margay: main() of the command line.
#include <iostream>

#include "scheduler/cli/program.h"

int main(int argc, char** argv) {
  return scheduler::cli::run(argc, argv, scheduler::cli::find_screen(), std::cout, std::cerr);
}
