#include "slurm/sbatch/directives.h"

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "slurm/sbatch/options.h"
#include "slurm/sbatch/values.h"

namespace slurm {
namespace {

const std::string kMark = "#SBATCH";
const std::string kBlanks = " \t\v\f\r";

bool is_blank(char c) { return kBlanks.find(c) != std::string::npos; }

bool is_command(const std::string& line) {
  const size_t first = line.find_first_not_of(kBlanks);
  return first != std::string::npos && line[first] != '#';
}

// The words of a directive line, split as sbatch does: a backslash makes the next character literal
// (within both kinds of quotes too, but it does not join words), an unquoted '#' ends the line.
std::vector<std::string> words_of(const std::string& line, const std::string& where) {
  std::vector<std::string> words;
  std::string word;
  bool in_word = false;
  char quote = 0;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quote == 0 && c == '#') break;
    if (quote == 0 && is_blank(c)) {
      if (in_word) words.push_back(word);
      word.clear();
      in_word = false;
      continue;
    }
    in_word = true;
    if (c == '\\' && i + 1 < line.size() && (quote != 0 || !is_blank(line[i + 1]))) {
      word += line[++i];
    } else if (c == quote) {
      quote = 0;
    } else if (quote == 0 && (c == '"' || c == '\'')) {
      quote = c;
    } else if (c != '\\') {
      word += c;
    }
  }
  if (quote != 0) throw DirectiveError(where + ": a quote is not closed");
  if (in_word) words.push_back(word);
  return words;
}

// The options of one line, added one by one.
class LineReader {
 public:
  LineReader(Directives& directives, const std::string& line, std::string where)
      : directives_(directives), where_(std::move(where)), words_(words_of(line, where_)) {}

  void read() {
    while (next_ < words_.size()) {
      const std::string word = words_[next_++];
      if (word.starts_with("--") && word.size() > 2) {
        read_long(word.substr(2));
      } else if (word.starts_with("-") && word.size() > 1 && word[1] != '-') {
        read_short(word);
      } else if (word == "hetjob" || word == "packjob" || word == ":") {
        throw DirectiveError(where_ + ": a job of several unlike parts ('" + word +
                             "') is not supported");
      } else {
        throw DirectiveError(where_ + ": '" + word + "' is not an option of sbatch");
      }
    }
  }

 private:
  std::string argument_of(const std::string& name) {
    if (next_ == words_.size()) {
      throw DirectiveError(where_ + ": --" + name + " needs a value in the same line");
    }
    return words_[next_++];
  }

  void read_long(const std::string& text) {
    const size_t equals = text.find('=');
    const std::string name = text.substr(0, equals);
    const DirectiveOption* option = find_option(name);
    if (option == nullptr) throw DirectiveError(where_ + ": " + refusal_of(name));
    std::string value;
    if (equals != std::string::npos) {
      value = text.substr(equals + 1);
    } else if (option->argument == Argument::kRequired) {
      value = argument_of(name);
    }
    add_directive(directives_, name, value, where_);
  }

  // Every short option that is in the table has a value.
  void read_short(const std::string& word) {
    const DirectiveOption* option = find_option(word[1]);
    if (option == nullptr) throw DirectiveError(where_ + ": " + refusal_of(word[1]));
    const std::string value = word.size() > 2 ? word.substr(2) : argument_of(option->name);
    add_directive(directives_, option->name, value, where_);
  }

  Directives& directives_;
  std::string where_;
  std::vector<std::string> words_;
  size_t next_ = 0;
};

std::vector<std::string> lines_of(const std::string& script) {
  auto lines = base::split(script, '\n');
  if (lines.back().empty()) lines.pop_back();
  return lines;
}

// The number of lines before the first command.
size_t header_length(const std::vector<std::string>& lines) {
  const auto command = std::find_if(lines.begin(), lines.end(), is_command);
  return static_cast<size_t>(command - lines.begin());
}

std::string quoted(const std::string& value) {
  const bool plain = !value.empty() && std::all_of(value.begin(), value.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string("_-.,:/=@%+[]&|*").find(c) != std::string::npos;
  });
  if (plain) return value;
  std::string text = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return text + "\"";
}

bool asks_for_gpus(const std::string& option, const std::string& value) {
  if (option == "gres") return gpus_of_gres(value) > 0;
  return option == "gpus" || option == "gpus-per-node" || option == "gpus-per-task";
}

void drop_memory(Directives& directives) {
  for (const char* name : {"mem", "mem-per-cpu", "mem-per-gpu"}) directives.erase(name);
}

void drop_gpus(Directives& directives) {
  for (const char* name : {"gpus", "gpus-per-node", "gpus-per-task"}) directives.erase(name);
  const auto gres = directives.find("gres");
  if (gres == directives.end()) return;
  auto entries = parse_gres(gres->second).value();
  if (entries.empty()) return;
  std::erase_if(entries, [](const Gres& entry) { return entry.name == "gpu"; });
  if (entries.empty()) {
    directives.erase(gres);
  } else {
    gres->second = gres_text(entries);
  }
}

// A gres without GPUs adds to the GPUs that are asked for already; "none" takes them away.
std::string with_gpus_of(const Directives& merged, const std::string& gres) {
  const auto before = merged.find("gres");
  std::vector<Gres> entries = parse_gres(gres).value_or(std::vector<Gres>{});
  if (before == merged.end() || entries.empty() || gpus_of_gres(gres) > 0) return gres;
  std::vector<Gres> both = parse_gres(before->second).value_or(std::vector<Gres>{});
  std::erase_if(both, [](const Gres& entry) { return entry.name != "gpu"; });
  both.insert(both.end(), entries.begin(), entries.end());
  return both.size() == entries.size() ? gres : gres_text(both);
}

}  // namespace

void add_directive(Directives& directives, const std::string& option, const std::string& value,
                   const std::string& where) {
  const DirectiveOption* known = find_option(option);
  if (known == nullptr) throw DirectiveError(where + ": " + refusal_of(option));
  // Such a character would end its line, or be invisible in it.
  const bool hidden = std::any_of(value.begin(), value.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
  });
  const auto canonical = hidden ? std::nullopt : known->canonical(value);
  if (!canonical) {
    throw DirectiveError(where + ": --" + option + " must be " + known->expected +
                         (hidden ? ", without control characters" : ", not '" + value + "'"));
  }
  const auto [place, added] = directives.emplace(option, *canonical);
  if (!added && place->second != *canonical) {
    throw DirectiveError(where + ": --" + option + " is given twice, as '" + place->second +
                         "' and as '" + *canonical + "'");
  }
}

Directives parse_directives(const std::string& script, const std::string& name) {
  if (script.find("\r\n") != std::string::npos) {
    throw DirectiveError(name +
                         ": has Windows line ends, which sbatch refuses: save it with Unix "
                         "line ends");
  }
  Directives directives;
  const auto lines = lines_of(script);
  const size_t header = header_length(lines);
  for (size_t i = 0; i < header; ++i) {
    if (!lines[i].starts_with(kMark)) continue;
    const std::string where = name + ", line " + std::to_string(i + 1);
    LineReader(directives, lines[i].substr(kMark.size()), where).read();
  }
  return directives;
}

Directives merge(const Directives& base, const Directives& over) {
  Directives merged = base;
  for (const auto& [option, value] : over) {
    if (option == "mem" || option == "mem-per-cpu" || option == "mem-per-gpu") drop_memory(merged);
    if (asks_for_gpus(option, value)) drop_gpus(merged);
  }
  for (const auto& [option, value] : over) {
    merged[option] = option == "gres" ? with_gpus_of(merged, value) : value;
  }
  return merged;
}

std::string to_lines(const Directives& directives) {
  std::string lines;
  for (const DirectiveOption& option : directive_options()) {
    const auto given = directives.find(option.name);
    if (given == directives.end()) continue;
    lines += kMark + " --" + option.name;
    if (!given->second.empty()) lines += "=" + quoted(given->second);
    lines += "\n";
  }
  return lines;
}

std::string with_directives(const std::string& script, const Directives& directives) {
  if (!script.starts_with("#!")) {
    throw DirectiveError("a script must begin with #! and its interpreter, such as #!/bin/bash");
  }
  const auto lines = lines_of(script);
  const size_t header = header_length(lines);
  std::string text = lines[0] + "\n" + to_lines(directives);
  for (size_t i = 1; i < lines.size(); ++i) {
    if (i < header && lines[i].starts_with(kMark)) continue;
    text += lines[i] + "\n";
  }
  return text;
}

}  // namespace slurm
