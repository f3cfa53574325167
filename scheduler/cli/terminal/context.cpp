#include "scheduler/cli/terminal/context.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <ostream>
#include <string_view>

#include "scheduler/http/json_text.h"

namespace scheduler::cli {
namespace {

constexpr int kJsonFormat = 1;  // of the documents
constexpr int kJsonIndent = 2;

}  // namespace

using nlohmann::json;

Screen find_screen() {
  Screen screen;
  screen.terminal = ::isatty(STDOUT_FILENO) == 1;
  if (!screen.terminal) return screen;
  winsize size{};
  const bool known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  screen.columns = known ? size.ws_col : 80;
  const char* term = std::getenv("TERM");
  const char* no_colour = std::getenv("NO_COLOR");
  screen.colour = (no_colour == nullptr || *no_colour == '\0') && term != nullptr &&
                  std::string_view(term) != "dumb";
  return screen;
}

json Context::get(const std::string& target, std::chrono::milliseconds timeout) const {
  return call({.method = "GET", .target = target}, timeout);
}

json Context::post(const std::string& target, const json& body, const std::vector<int>& files,
                   std::chrono::milliseconds timeout) const {
  return call({.method = "POST", .target = target, .body = body.dump(), .files = files}, timeout);
}

api::Answer Context::fetch(const std::string& target) const {
  return ask({.method = "GET", .target = target}, kTimeout);
}

api::Answer Context::ask(const api::Call& call, std::chrono::milliseconds timeout) const {
  try {
    return api::HttpClient(socket_.path, timeout).call(call);
  } catch (const api::Unreachable& error) {
    throw Failure(Exit::kUnreachable, socket_.none.empty() ? error.what() : socket_.none);
  }
}

json Context::call(const api::Call& call, std::chrono::milliseconds timeout) const {
  return parse(ask(call, timeout), socket_.path);
}

json Context::parse(const api::Answer& answer, const std::string& socket) {
  json body = json::parse(answer.body, nullptr, false);
  if (!body.is_object()) {
    throw Failure(Exit::kUnreachable,
                  "unexpected answer at " + socket + "; is it margayd's socket?");
  }
  if (answer.status == 200) return body;
  throw failure_of(body.value("error", json::object()));
}

void Context::print(json document) const {
  document["format"] = kJsonFormat;
  out_ << document.dump(kJsonIndent) << "\n";
}

void Context::print_list(const std::string& name, const std::vector<std::string>& elements) const {
  if (elements.empty()) {
    print(json{{name, json::array()}});
    return;
  }
  // The empty array is the only one.
  const std::string frame = json{{"format", kJsonFormat}, {name, json::array()}}.dump(kJsonIndent);
  const size_t inside = frame.rfind("[]") + 1;
  out_ << frame.substr(0, inside);
  const char* separator = "\n";
  for (const std::string& element : elements) {
    out_ << separator << element;
    separator = ",\n";
  }
  out_ << "\n" << std::string(kJsonIndent, ' ') << frame.substr(inside) << "\n";
}

// Two levels down in the document.
std::string Context::text_in_list(const json& element) {
  const std::string margin(2 * kJsonIndent, ' ');
  std::string text = margin;
  for (const char letter : element.dump(kJsonIndent)) {
    text += letter;
    if (letter == '\n') text += margin;
  }
  return text;
}

bool Context::print_if_json(const json& document) const {
  if (json_) print(document);
  return json_;
}

void Context::print(const Table& table, const std::string& if_empty) const {
  out_ << (table.empty() ? if_empty : table.text(screen_.columns, screen_.colour));
}

void Context::complain(const std::string& message) const {
  error_ << "margay: " << printable(message) << "\n";
}

std::string Context::styled(const std::string& text, const std::string& style) const {
  return screen_.colour && !style.empty() ? style + text + style::kReset : text;
}

void Context::field(const std::string& name, const std::string& value, int width) const {
  if (value.empty()) return;
  out_ << styled(pad(name, width, Align::kLeft), style::kDim) << printable(value) << "\n";
}

std::string text_of(const json& object, const std::string& key) {
  return api::get_text(object, key).value_or("");
}

Failure failure_of(const json& error) {
  const std::string message = text_of(error, "message");
  const std::string kind = error.value("kind", "failed");
  return {exit_of_kind(kind), message.empty() ? "the daemon gave no reason" : message,
          error.value("item", int64_t{0}), kind == "busy"};
}

}  // namespace scheduler::cli
