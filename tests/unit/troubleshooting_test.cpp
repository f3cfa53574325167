// docs/troubleshooting.md against the sources: every message that the page quotes is one that a
// program prints. A quotation is code in bold; "..." in it stands for what varies.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <filesystem>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "tests/scratch_folder.h"

namespace tests {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const fs::path kRoot = MARGAY_SOURCE_DIR;
constexpr size_t kLeastFragment = 8;  // bytes; shorter ones are found by chance

char unescaped(char letter) {
  if (letter == 'n') return '\n';
  return letter == 't' ? '\t' : letter;
}

// Reads the string literals of a C++ source, and what follows a literal as a part of it where only
// blanks and comments are between them.
class Literals {
 public:
  explicit Literals(const std::string& source) : source_(source) {}

  // Each ends in a line feed.
  std::string read() {
    while (at_ < source_.size()) step();
    return text_ + "\n";
  }

 private:
  bool sees(const char* what) const { return source_.compare(at_, std::strlen(what), what) == 0; }
  void skip_past(const std::string& end) {
    const size_t found = source_.find(end, at_);
    at_ = found == std::string::npos ? source_.size() : found + end.size();
  }

  void step() {
    if (sees("//")) return skip_past("\n");
    if (sees("/*")) return skip_past("*/");
    if (sees("R\"")) return raw();
    if (sees("\"")) return quoted('"');
    // Between digits it is a separator.
    const bool in_number = at_ > 0 && std::isalnum(static_cast<unsigned char>(source_[at_ - 1]));
    if (sees("'") && !in_number) return quoted('\'');
    if (!std::isspace(static_cast<unsigned char>(source_[at_]))) ended_ = true;
    ++at_;
  }

  void begin() {
    if (std::exchange(ended_, false)) text_ += '\n';
  }

  void raw() {
    begin();
    const size_t open = source_.find('(', at_);
    const std::string close = ")" + source_.substr(at_ + 2, open - at_ - 2) + "\"";
    const size_t end = source_.find(close, open);
    text_ += source_.substr(open + 1, end - open - 1);
    at_ = open;
    skip_past(close);
  }

  void quoted(char quote) {
    const bool kept = quote == '"';
    if (kept) begin();
    for (++at_; at_ < source_.size() && source_[at_] != quote; ++at_) {
      const bool escape = source_[at_] == '\\';
      if (escape) ++at_;
      if (kept && at_ < source_.size()) text_ += escape ? unescaped(source_[at_]) : source_[at_];
    }
    ++at_;
    if (!kept) ended_ = true;
  }

  const std::string& source_;
  size_t at_ = 0;
  bool ended_ = true;  // something else has followed the last literal
  std::string text_;
};

// The literals of all programs.
std::string all_literals() {
  std::string text;
  for (const char* folder : {"base", "engine", "db", "slurm", "scheduler"}) {
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / folder)) {
      const std::string extension = entry.path().extension().string();
      if (extension == ".h" || extension == ".cpp" || extension == ".cu" || extension == ".cuh") {
        text += Literals(text_of(entry.path().string())).read();
      }
    }
  }
  return text;
}

std::vector<std::string> quoted_messages(const std::string& page) {
  static const std::regex quotation(R"(\*\*`([^`]+)`\*\*)");
  static const std::regex blanks(R"(\s+)");
  std::vector<std::string> messages;
  for (std::sregex_iterator at(page.begin(), page.end(), quotation), end; at != end; ++at) {
    messages.push_back(std::regex_replace((*at)[1].str(), blanks, " "));
  }
  return messages;
}

// Without those that are too short.
std::vector<std::string> fragments_of(const std::string& message) {
  std::vector<std::string> fragments;
  for (size_t at = 0; at <= message.size();) {
    const size_t end = std::min(message.find("...", at), message.size());
    std::string fragment = base::trimmed(message.substr(at, end - at));
    if (fragment.size() >= kLeastFragment) fragments.push_back(std::move(fragment));
    at = end + 3;
  }
  return fragments;
}

// One line for each message of the page that is not in `literals`.
std::vector<std::string> faults_of(const std::string& page, const std::string& literals) {
  std::vector<std::string> faults;
  for (const std::string& message : quoted_messages(page)) {
    const std::vector<std::string> fragments = fragments_of(message);
    if (fragments.empty()) faults.push_back("'" + message + "' is too short to be looked for");
    for (const std::string& fragment : fragments) {
      if (literals.find(fragment) != std::string::npos) continue;
      faults.push_back("no program prints '" + fragment + "' of the message '" + message + "'");
      break;
    }
  }
  return faults;
}

TEST(Troubleshooting, EveryMessageThatThePageQuotesIsPrintedByAProgram) {
  const std::string page = text_of((kRoot / "docs/troubleshooting.md").string());
  EXPECT_GE(quoted_messages(page).size(), 50U);
  EXPECT_THAT(faults_of(page, all_literals()), IsEmpty());
}

TEST(Troubleshooting, AMessageThatNoProgramPrintsIsNamed) {
  const std::string literals = Literals(
                                   "// \"in a comment of a source\"\n"
                                   "refuse(\"the folder '\" + name + \"' is \"\n"
                                   "       \"full; say \\\"no\\\"\", '\"', 1'000);\n"
                                   "const char* other = R\"sh(echo \"a whole script\")sh\";\n")
                                   .read();
  EXPECT_THAT(faults_of("- **`the folder '...' is full; say\n  \"no\"`**: it is.\n"
                        "- **`echo \"a whole script\"`**, **`... in a comment of a source`**\n"
                        "- **`the folder '...' is empty`** and `code that is no message`\n"
                        "- **`a: ... b`**",
                        literals),
              ElementsAre(HasSubstr("'in a comment of a source'"),
                          HasSubstr("'' is empty' of the message 'the folder '...' is empty'"),
                          HasSubstr("'a: ... b' is too short")));
}

}  // namespace
}  // namespace tests
