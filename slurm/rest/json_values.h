// Reading slurmrestd's JSON whatever shape a value has: 5, "5", {"set": true, "number": 5}.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/json.h"

namespace slurm {

using Json = nlohmann::json;

// A discarded value when the text is cut or is not JSON. Never throws.
Json parse_json(const std::string& text);

// The member; null when `object` is not an object or has no such member.
const Json& member(const Json& object, const char* key);
// A nested member: {"time", "limit"}.
const Json& member(const Json& object, std::initializer_list<const char*> keys);

// Empty unless it is a string or a number.
std::string text_of(const Json& value);
// nullopt: not a number, not set, infinite or beyond 9e15.
std::optional<int64_t> number_of(const Json& value);
bool is_infinite(const Json& value);
// The state words in a string or an array of strings.
std::set<std::string> words_of(const Json& value);

// The objects in an array; empty when `value` is not an array.
std::vector<const Json*> objects_of(const Json& value);

}  // namespace slurm
