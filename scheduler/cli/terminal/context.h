// What every command of `margay` needs: the daemon, the output, and the terminal's width.
#pragma once

#include <chrono>
#include <iosfwd>
#include <string>
#include <vector>

#include "base/json.h"
#include "scheduler/cli/terminal/exit.h"
#include "scheduler/cli/terminal/find_socket.h"
#include "scheduler/cli/terminal/text_format.h"
#include "scheduler/http/http_client.h"

namespace scheduler::cli {

struct Screen {
  bool terminal = false;
  bool colour = false;
  int columns = 0;  // 0: not a terminal; lines may have any length
};

// The terminal of standard output. Respects NO_COLOR and TERM=dumb.
Screen find_screen();

class Context {
 public:
  Context(FoundSocket socket, bool json, Screen screen, std::ostream& out, std::ostream& error)
      : socket_(std::move(socket)), json_(json), screen_(screen), out_(out), error_(error) {}

  // Each makes one request. Throws Failure with the daemon's error, or with kUnreachable.
  nlohmann::json get(const std::string& target, std::chrono::milliseconds timeout = kTimeout) const;
  nlohmann::json post(const std::string& target, const nlohmann::json& body,
                      const std::vector<int>& files = {},
                      std::chrono::milliseconds timeout = kTimeout) const;

  // get() in two steps: fetch() waits for the daemon, parse() does not.
  api::Answer fetch(const std::string& target) const;
  static nlohmann::json parse(const api::Answer& answer, const std::string& socket);

  // The same context, printing to another screen.
  Context with(Screen screen, std::ostream& out) const {
    return {socket_, json_, screen, out, error_};
  }

  bool wants_json() const { return json_; }
  const Screen& screen() const { return screen_; }
  const std::string& socket() const { return socket_.path; }
  std::ostream& out() const { return out_; }

  // Prints the command's one JSON document, with "format" added.
  void print(nlohmann::json document) const;
  // Prints what print() does of {name: [...]}, with each element as text_in_list() has it.
  void print_list(const std::string& name, const std::vector<std::string>& elements) const;
  static std::string text_in_list(const nlohmann::json& element);
  // Prints the document if JSON is wanted; returns whether it is.
  bool print_if_json(const nlohmann::json& document) const;
  // Prints a table, or `if_empty` if it has no rows.
  void print(const Table& table, const std::string& if_empty = "") const;
  // Prints "margay: message" on standard error; escapes what a terminal must not see.
  void complain(const std::string& message) const;
  std::string styled(const std::string& text, const std::string& style) const;
  // Prints a line "name   value", the name `width` cells wide; nothing for an empty value.
  void field(const std::string& name, const std::string& value, int width) const;

 private:
  static constexpr std::chrono::seconds kTimeout{60};

  api::Answer ask(const api::Call& call, std::chrono::milliseconds timeout) const;
  nlohmann::json call(const api::Call& call, std::chrono::milliseconds timeout) const;

  FoundSocket socket_;
  bool json_;
  Screen screen_;
  std::ostream& out_;
  std::ostream& error_;
};

// The exact bytes of a text in the API's JSON; "" when absent.
std::string text_of(const nlohmann::json& object, const std::string& key);
// The API's "error" as an exception.
Failure failure_of(const nlohmann::json& error);

}  // namespace scheduler::cli
