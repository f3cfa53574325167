// The parsers of what others write, each as a function of bytes. Whatever the bytes, a target
// returns: it may refuse them by the error that the parser documents and by nothing else.
#pragma once

#include <string>
#include <vector>

namespace tests {

struct FuzzTarget {
  std::string name;  // and of its folder in corpus/
  void (*parse)(const std::string& bytes);
};

const std::vector<FuzzTarget>& fuzz_targets();

}  // namespace tests
