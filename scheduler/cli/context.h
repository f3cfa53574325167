// What every command of `margay` needs: the daemon, where to print, how wide the terminal is.
#pragma once

#include <chrono>
#include <iosfwd>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "scheduler/api/http_client.h"
#include "scheduler/cli/exit.h"
#include "scheduler/cli/text_format.h"

namespace scheduler::cli {

struct Screen {
  bool terminal = false;
  bool colour = false;
  int columns = 0;  // 0: not a terminal, as wide as it needs
};

// Of standard output; NO_COLOR and TERM=dumb are respected.
Screen find_screen();

class Context {
 public:
  Context(std::string socket, bool json, Screen screen, std::ostream& out, std::ostream& error)
      : socket_(std::move(socket)), json_(json), screen_(screen), out_(out), error_(error) {}

  // Throw Failure with what the daemon answered, or with kUnreachable.
  nlohmann::json get(const std::string& target,
                     std::chrono::milliseconds patience = kPatience) const;
  nlohmann::json post(const std::string& target, const nlohmann::json& body,
                      const std::vector<int>& files = {},
                      std::chrono::milliseconds patience = kPatience) const;

  bool wants_json() const { return json_; }
  const Screen& screen() const { return screen_; }
  const std::string& socket() const { return socket_; }
  std::ostream& out() const { return out_; }

  // The command's one document.
  void print(nlohmann::json document) const;
  void print(const Table& table) const;
  // "margay: message" on standard error, printable.
  void complain(const std::string& message) const;
  std::string styled(const std::string& text, const std::string& style) const;

 private:
  static constexpr std::chrono::seconds kPatience{60};

  nlohmann::json call(const api::Call& call, std::chrono::milliseconds patience) const;

  std::string socket_;
  bool json_;
  Screen screen_;
  std::ostream& out_;
  std::ostream& error_;
};

// Exact bytes of a text of the API ("" when absent).
std::string text_of(const nlohmann::json& object, const std::string& key);
// One entry of "error" as it is thrown.
Failure failure_of(const nlohmann::json& error);

}  // namespace scheduler::cli
