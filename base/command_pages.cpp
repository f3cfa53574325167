#include "base/command_pages.h"

#include <algorithm>
#include <cctype>
#include <functional>
#include <sstream>

namespace base {
namespace {

using Texts = std::vector<std::string>;

std::string in_one_line(const std::string& text) {
  std::string line = text;
  std::replace(line.begin(), line.end(), '\n', ' ');
  return line;
}

// ---- roff

// Text that roff prints as it is.
std::string roff(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n')) out += "\\&";
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if (c == '\'') {
      out += "\\(aq";
    } else if (c == '~') {
      out += "\\(ti";
    } else if (c == '^') {
      out += "\\(ha";
    } else if (c == '`') {
      out += "\\(ga";
    } else {
      out += c;
    }
  }
  return out;
}

// Behind the macro at the beginning of a line, as one argument.
std::string roff_argument(const std::string& text) {
  std::string out = "\"";
  for (const char c : roff(in_one_line(text))) out += c == '"' ? "\\(dq" : std::string(1, c);
  return out + "\"";
}

std::string bold(const std::string& text) { return "\\fB" + roff(text) + "\\fR"; }
std::string italic(const std::string& text) { return "\\fI" + roff(text) + "\\fR"; }

std::string positional_usage(const PageOption& option) {
  const std::string name = italic(option.names.front()) + (option.several ? "..." : "");
  return option.required ? name : "[" + name + "]";
}

std::string usage(const std::string& words, const PageCommand& command) {
  std::string text = bold(words);
  if (!command.commands.empty())
    return text + " " + italic("COMMAND") + " [" + italic("OPTION") + "...]\n";
  for (const PageOption& option : command.options) {
    if (option.required && !option.is_positional()) {
      text += " " + bold(option.names.back()) + " " + italic(option.value);
    }
  }
  text += " [" + italic("OPTION") + "...]";
  for (const PageOption& option : command.options) {
    if (option.is_positional()) text += " " + positional_usage(option);
  }
  return text + "\n";
}

std::string option_text(const PageOption& option) {
  std::string text = ".TP\n";
  if (option.is_positional()) {
    text += positional_usage(option);
  } else {
    for (const std::string& name : option.names) {
      text += (&name == &option.names.front() ? "" : ", ") + bold(name);
    }
    if (!option.value.empty()) text += " " + italic(option.value);
  }
  text += "\n" + roff(in_one_line(option.help));
  if (!option.standard.empty()) text += " (default: " + roff(option.standard) + ")";
  if (option.required && !option.is_positional()) text += " (required)";
  return text + "\n";
}

// Indented lines as they are, the others as paragraphs.
std::string footer_text(const std::string& footer) {
  std::istringstream lines(footer);
  std::string text;
  bool indented = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) continue;
    const bool is_indented = line.front() == ' ';
    if (is_indented && !indented) text += ".PP\n.nf\n.RS 4\n";
    if (!is_indented && indented) text += ".RE\n.fi\n";
    if (!is_indented && (text.empty() || indented)) text += ".PP\n";
    indented = is_indented;
    text += roff(is_indented ? line.substr(line.find_first_not_of(' ')) : line) + "\n";
  }
  return indented ? text + ".RE\n.fi\n" : text;
}

std::string options_text(const PageCommand& command) {
  std::string text;
  for (const bool positional : {true, false}) {
    for (const PageOption& option : command.options) {
      if (option.is_positional() == positional) text += option_text(option);
    }
  }
  return text;
}

std::string command_text(const std::string& parent, const PageCommand& command) {
  const std::string words = parent + " " + command.name;
  std::string text = ".SS " + roff_argument(words) + "\n" + usage(words, command) + ".PP\n" +
                     roff(in_one_line(command.description)) + ".\n" + options_text(command) +
                     footer_text(command.footer);
  for (const PageCommand& one : command.commands) text += command_text(words, one);
  return text;
}

std::string first_line(const std::string& text) {
  std::string line = text.substr(0, text.find('\n'));
  while (!line.empty() && (line.back() == '.' || line.back() == ' ')) line.pop_back();
  return line;
}

std::string upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

// ---- bash

std::string identifier(const std::string& name) {
  std::string text = "_" + name;
  for (char& c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return text;
}

std::string shell_words(const Texts& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return "'" + text + "'";
}

// Each command with the words that lead to it, "template add"; the program's are empty.
void each_command(const PageCommand& command, const std::string& words,
                  const std::function<void(const PageCommand&, const std::string&)>& action) {
  action(command, words);
  for (const PageCommand& one : command.commands) {
    each_command(one, words + (words.empty() ? "" : " ") + one.name, action);
  }
}

std::string names_of_commands(const PageCommand& program) {
  std::string text;
  each_command(program, "", [&](const PageCommand& command, const std::string& words) {
    for (const PageCommand& one : command.commands) {
      const std::string whole = words + (words.empty() ? "" : " ") + one.name;
      text += "      '" + words + " " + one.name + "') command='" + whole + "' ;;\n";
    }
  });
  return text;
}

// What may stand behind options that have a value.
std::string values_text(const PageCommand& command) {
  std::string text, others;
  for (const PageOption& option : command.options) {
    if (option.value.empty() || option.is_positional()) continue;
    for (const std::string& name : option.names) {
      if (option.words.empty()) {
        others += (others.empty() ? "" : " | ") + name;
      } else {
        text += "        " + name + ") words=" + shell_words(option.words) + " values=yes ;;\n";
      }
    }
  }
  return others.empty() ? text : text + "        " + others + ") return ;;\n";
}

std::string case_text(const PageCommand& command, const std::string& words) {
  Texts options, others;
  for (const PageOption& option : command.options) {
    if (option.is_positional()) {
      others.insert(others.end(), option.words.begin(), option.words.end());
    } else {
      options.insert(options.end(), option.names.begin(), option.names.end());
    }
  }
  for (const PageCommand& one : command.commands) others.push_back(one.name);
  const std::string values = values_text(command);
  return "    '" + words + "')\n      options=" + shell_words(options) +
         "\n      words=" + shell_words(others) + "\n" +
         (values.empty() ? "" : "      case $previous in\n" + values + "      esac\n") +
         "      ;;\n";
}

}  // namespace

std::string man_page(const PageCommand& program, int section, const std::string& version,
                     const std::vector<std::string>& see_also) {
  std::string page = ".TH " + upper(program.name) + " " + std::to_string(section) + " \"\" " +
                     roff_argument(program.name + " " + version) + " \"Margay\"\n.SH NAME\n" +
                     roff(program.name) + " \\- " + roff(first_line(program.description)) +
                     "\n.SH SYNOPSIS\n" + usage(program.name, program) + ".SH DESCRIPTION\n" +
                     roff(program.description) + "\n.SH OPTIONS\n" + options_text(program);
  if (!program.commands.empty()) {
    page += ".SH COMMANDS\n";
    for (const PageCommand& command : program.commands) page += command_text(program.name, command);
  }
  if (!program.footer.empty()) page += ".SH NOTES\n" + footer_text(program.footer);
  if (!see_also.empty()) {
    page += ".SH SEE ALSO\n";
    for (const std::string& other : see_also) {
      const size_t bracket = std::min(other.find('('), other.size());
      page += bold(other.substr(0, bracket)) + roff(other.substr(bracket)) +
              (&other == &see_also.back() ? "\n" : ",\n");
    }
  }
  return page;
}

std::string bash_completion(const PageCommand& program) {
  const std::string function = identifier(program.name);
  std::string cases;
  each_command(program, "", [&](const PageCommand& command, const std::string& words) {
    cases += case_text(command, words);
  });
  return "# Completion of " + program.name + " for bash; made by `" + program.name +
         " --bash-completion`.\n" + function +
         "() {\n"
         "  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}\n"
         "  local command= options= words= values= i\n"
         "  # bash takes --option=value apart.\n"
         "  if [[ $current == '=' ]]; then current=; fi\n"
         "  if [[ $previous == '=' ]]; then previous=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
         "  for ((i = 1; i < COMP_CWORD; ++i)); do\n"
         "    case \"$command ${COMP_WORDS[i]}\" in\n" +
         names_of_commands(program) +
         "    esac\n"
         "  done\n"
         "  case $command in\n" +
         cases +
         "  esac\n"
         "  if [[ $current == -* && -z $values ]]; then words=$options; fi\n"
         "  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
         "}\n"
         "complete -o bashdefault -o default -F " +
         function + " " + program.name + "\n";
}

}  // namespace base
