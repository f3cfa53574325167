#include "db/records.h"

#include <array>
#include <utility>

namespace db {
namespace {

template <typename State>
using Word = std::pair<State, const char*>;

constexpr std::array<Word<ItemState>, 7> kItemWords = {{
    {ItemState::kQueued, "QUEUED"},
    {ItemState::kHeld, "HELD"},
    {ItemState::kActive, "ACTIVE"},
    {ItemState::kDone, "DONE"},
    {ItemState::kFailed, "FAILED"},
    {ItemState::kCancelled, "CANCELLED"},
    {ItemState::kQuarantined, "QUARANTINED"},
}};

constexpr std::array<Word<AttemptState>, 12> kAttemptWords = {{
    {AttemptState::kSubmitting, "SUBMITTING"},
    {AttemptState::kUnknown, "UNKNOWN"},
    {AttemptState::kRejected, "REJECTED"},
    {AttemptState::kPending, "PENDING"},
    {AttemptState::kRunning, "RUNNING"},
    {AttemptState::kCompleting, "COMPLETING"},
    {AttemptState::kDone, "DONE"},
    {AttemptState::kCheckpointed, "CHECKPOINTED"},
    {AttemptState::kFailed, "FAILED"},
    {AttemptState::kLost, "LOST"},
    {AttemptState::kCancelled, "CANCELLED"},
    {AttemptState::kNeverStarted, "NEVER_STARTED"},
}};

constexpr std::array<Word<Priority>, 5> kPriorityWords = {{
    {Priority::kLive, "live"},
    {Priority::kUrgent, "urgent"},
    {Priority::kHigh, "high"},
    {Priority::kNormal, "normal"},
    {Priority::kLow, "low"},
}};

template <typename Table, typename State>
std::string word_of(const Table& table, State state) {
  for (const auto& [value, word] : table) {
    if (value == state) return word;
  }
  return "";
}

template <typename State, typename Table>
std::optional<State> value_of(const Table& table, const std::string& text) {
  for (const auto& [value, word] : table) {
    if (text == word) return value;
  }
  return std::nullopt;
}

}  // namespace

std::string token_prefix(const std::string& instance) { return "margay-" + instance + "-"; }

std::string make_token(const std::string& instance, int64_t item_id, int number) {
  return token_prefix(instance) + std::to_string(item_id) + "-a" + std::to_string(number);
}

std::string to_string(ItemState state) { return word_of(kItemWords, state); }
std::string to_string(AttemptState state) { return word_of(kAttemptWords, state); }
std::string to_string(Priority priority) { return word_of(kPriorityWords, priority); }

const std::vector<ItemState>& item_states() {
  static const std::vector<ItemState> all = [] {
    std::vector<ItemState> states;
    for (const auto& [state, word] : kItemWords) states.push_back(state);
    return states;
  }();
  return all;
}

std::optional<ItemState> parse_item_state(const std::string& word) {
  return value_of<ItemState>(kItemWords, word);
}

std::optional<AttemptState> parse_attempt_state(const std::string& word) {
  return value_of<AttemptState>(kAttemptWords, word);
}

std::optional<Priority> parse_priority(const std::string& word) {
  return value_of<Priority>(kPriorityWords, word);
}

}  // namespace db
