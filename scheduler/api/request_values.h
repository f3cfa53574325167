// Reads the values in a request's address, and turns errors into answers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"
#include "scheduler/errors.h"
#include "scheduler/http/http_message.h"

namespace scheduler::api {

// Throws Invalid, naming `what`, for anything but a whole number.
int64_t integer(const std::string& text, const std::string& what);

// The words between the separators; separators at the ends and doubled ones are ignored.
std::vector<std::string> words_of(const std::string& text, char separator);

// The query's value for this key; "" when it is absent.
std::string parameter(const Request& request, const std::string& key);

struct Refusal {
  int status = 500;
  const char* kind = "internal";
};
Refusal refusal_of(CommandFault fault);
// {"error": {...}}
nlohmann::json error_of(const CommandError& error);

}  // namespace scheduler::api
