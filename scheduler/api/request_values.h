// What the address of a request says, and what its errors become.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"
#include "scheduler/api/http_message.h"
#include "scheduler/errors.h"

namespace scheduler::api {

// Throws Invalid, which names `what`, for anything but a whole number.
int64_t integer(const std::string& text, const std::string& what);

// The words between the separators, which may stand at the ends and doubled.
std::vector<std::string> words_of(const std::string& text, char separator);

// Of the query; "" without it.
std::string parameter(const Request& request, const std::string& key);

struct Refusal {
  int status = 500;
  const char* kind = "internal";
};
Refusal refusal_of(CommandFault fault);
// {"error": {...}}
nlohmann::json error_of(const CommandError& error);

}  // namespace scheduler::api
