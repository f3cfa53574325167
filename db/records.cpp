#include "db/records.h"

#include "base/words.h"

namespace db {
namespace {

constexpr base::Words<ItemState, 7> kItemWords = {{
    {ItemState::kQueued, "QUEUED"},
    {ItemState::kHeld, "HELD"},
    {ItemState::kActive, "ACTIVE"},
    {ItemState::kDone, "DONE"},
    {ItemState::kFailed, "FAILED"},
    {ItemState::kCancelled, "CANCELLED"},
    {ItemState::kQuarantined, "QUARANTINED"},
}};

constexpr base::Words<AttemptState, 12> kAttemptWords = {{
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

constexpr base::Words<Priority, 5> kPriorityWords = {{
    {Priority::kLive, "live"},
    {Priority::kUrgent, "urgent"},
    {Priority::kHigh, "high"},
    {Priority::kNormal, "normal"},
    {Priority::kLow, "low"},
}};

constexpr base::Words<MeasureKind, 4> kMeasureWords = {{
    {MeasureKind::kRate, "rate"},
    {MeasureKind::kLoss, "loss"},
    {MeasureKind::kSerial, "serial"},
    {MeasureKind::kStart, "start"},
}};

template <typename Value, size_t kCount>
std::string for_sql(const base::Words<Value, kCount>& words) {
  std::string list;
  for (const auto& [value, word] : words) {
    list += (list.empty() ? "'" : ", '") + std::string(word) + "'";
  }
  return list;
}

}  // namespace

std::string token_prefix(const std::string& instance) { return "margay-" + instance + "-"; }

std::string make_token(const std::string& instance, int64_t item_id, int number) {
  return token_prefix(instance) + std::to_string(item_id) + "-a" + std::to_string(number);
}

std::string to_string(ItemState state) { return base::word_of(kItemWords, state); }
std::string to_string(AttemptState state) { return base::word_of(kAttemptWords, state); }
std::string to_string(Priority priority) { return base::word_of(kPriorityWords, priority); }
std::string to_string(MeasureKind kind) { return base::word_of(kMeasureWords, kind); }

const std::vector<ItemState>& item_states() {
  static const std::vector<ItemState> all = [] {
    std::vector<ItemState> states;
    for (const auto& [state, word] : kItemWords) states.push_back(state);
    return states;
  }();
  return all;
}

template <>
std::optional<ItemState> parse(const std::string& word) {
  return base::value_of(kItemWords, word);
}

template <>
std::optional<AttemptState> parse(const std::string& word) {
  return base::value_of(kAttemptWords, word);
}

template <>
std::optional<Priority> parse(const std::string& word) {
  return base::value_of(kPriorityWords, word);
}

template <>
std::optional<MeasureKind> parse(const std::string& word) {
  return base::value_of(kMeasureWords, word);
}

template <>
std::string words_for_sql<ItemState>() {
  return for_sql(kItemWords);
}

template <>
std::string words_for_sql<AttemptState>() {
  return for_sql(kAttemptWords);
}

template <>
std::string words_for_sql<Priority>() {
  return for_sql(kPriorityWords);
}

template <>
std::string words_for_sql<MeasureKind>() {
  return for_sql(kMeasureWords);
}

}  // namespace db
