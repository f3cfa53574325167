#include "base/yaml_load.h"

#include <yaml-cpp/eventhandler.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <string_view>
#include <vector>

#include "base/size_text.h"
#include "base/utf8.h"

namespace base {
namespace {

int line_of(const YAML::Mark& mark) { return mark.is_null() ? 0 : mark.line + 1; }

// Where `text` stops being UTF-8 without control characters, which the YAML library would replace
// or take for the end of the file; npos where it does not.
size_t first_bad_byte(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const size_t length = utf8_sequence(text.substr(i));
    const auto lead = static_cast<unsigned char>(text[i]);
    const bool blank = lead == '\t' || lead == '\n' || lead == '\r';
    if (length == 0 || (lead < 0x20 && !blank)) return i;
    i += length;
  }
  return std::string_view::npos;
}

// Follows the library through the text, and stops it where it does not get on, or where the nodes
// would be too many once each alias stands for its value.
class Inspector : public YAML::EventHandler {
 public:
  Inspector(std::string file, size_t most_nodes)
      : file_(std::move(file)), most_nodes_(most_nodes) {}

  int documents() const { return documents_; }

  // At a `,` outside of any list the library finds one empty document after another.
  void OnDocumentStart(const YAML::Mark& mark) override {
    if (documents_ > 0 && mark.pos <= document_start_) {
      refuse(mark, "not YAML: a ',', ']' or '}' stands there outside of any list or map");
    }
    document_start_ = mark.pos;
    ++documents_;
    values_.clear();
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { leaf(mark, anchor); }
  void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                const std::string&) override {
    leaf(mark, anchor);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    begin(mark, anchor);
  }
  void OnSequenceEnd() override { end(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    begin(mark, anchor);
  }
  void OnMapEnd() override { end(); }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto value = values_.find(anchor);
    if (value == values_.end()) refuse(mark, "an alias there stands for a value that contains it");
    count(mark, value->second);
    put_into_innermost(value->second);
  }

 private:
  // A value with all that is in it.
  struct Value {
    size_t nodes = 1;
    size_t levels = 0;
  };
  struct Open {
    YAML::anchor_t anchor = YAML::NullAnchor;
    Value value;
  };

  [[noreturn]] void refuse(const YAML::Mark& mark, const std::string& problem) const {
    throw YamlError(yaml_place(file_, line_of(mark)) + ": " + problem);
  }

  // Before a value is taken: the innermost of the open lists and maps gets it.
  void count(const YAML::Mark& mark, const Value& value) {
    nodes_ += value.nodes;
    if (nodes_ > most_nodes_) {
      refuse(mark, "there are more than " + std::to_string(most_nodes_) +
                       " values, each alias counted as what it stands for");
    }
    if (open_.size() + value.levels > kDeepestYaml) {
      refuse(mark,
             "lists and maps are nested in more than " + std::to_string(kDeepestYaml) + " levels");
    }
  }

  void put_into_innermost(const Value& value) {
    if (open_.empty()) return;
    open_.back().value.nodes += value.nodes;
    open_.back().value.levels = std::max(open_.back().value.levels, value.levels + 1);
  }

  void leaf(const YAML::Mark& mark, YAML::anchor_t anchor) {
    count(mark, {});
    put_into_innermost({});
    if (anchor != YAML::NullAnchor) values_[anchor] = {};
  }

  void begin(const YAML::Mark& mark, YAML::anchor_t anchor) {
    const Value empty{.levels = 1};
    count(mark, empty);
    open_.push_back({.anchor = anchor, .value = empty});
  }

  void end() {
    const Open ended = open_.back();
    open_.pop_back();
    if (ended.anchor != YAML::NullAnchor) values_[ended.anchor] = ended.value;
    put_into_innermost(ended.value);
  }

  std::string file_;
  size_t most_nodes_;
  int documents_ = 0;
  int document_start_ = 0;
  size_t nodes_ = 0;
  std::vector<Open> open_;
  std::map<YAML::anchor_t, Value> values_;  // of the anchors whose values are whole
};

void inspect(const std::string& text, const std::string& file, size_t most_nodes) {
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  Inspector inspector(file, most_nodes);
  while (parser.HandleNextDocument(inspector)) {
  }
  if (inspector.documents() > 1) {
    throw YamlError(yaml_place(file, 0) + " holds " + std::to_string(inspector.documents()) +
                    " YAML documents; one is wanted");
  }
}

}  // namespace

std::string yaml_place(const std::string& file, int line) {
  return line > 0 ? "'" + file + "' line " + std::to_string(line) : "'" + file + "'";
}

YAML::Node load_yaml(const std::string& text, const std::string& file, const YamlSize& most) {
  if (text.size() > most.bytes) {
    throw YamlError(yaml_place(file, 0) + " is longer than " +
                    size_text(static_cast<int64_t>(most.bytes)) + ": is it a YAML file?");
  }
  const size_t bad = first_bad_byte(text);
  if (bad != std::string::npos) {
    const auto lines =
        std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(bad), '\n');
    throw YamlError(yaml_place(file, static_cast<int>(lines) + 1) +
                    ": not YAML in UTF-8: a byte there is no text");
  }
  try {
    inspect(text, file, most.nodes);
    return YAML::Load(text);
  } catch (const YAML::Exception& error) {
    throw YamlError(yaml_place(file, line_of(error.mark)) + ": not YAML: " + error.msg);
  }
}

}  // namespace base
