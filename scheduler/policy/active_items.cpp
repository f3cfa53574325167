#include "scheduler/policy/active_items.h"

#include <string>

#include "base/text.h"
#include "scheduler/policy/plan_text.h"
#include "scheduler/policy/width_text.h"

namespace scheduler {

void ActiveItems::decide(const Entry& entry, std::optional<db::Priority> anew_among) {
  const PlanItem& item = *entry.item;
  const auto width = item.stoppable ? filling_.widths->instead(item) : std::nullopt;
  if (item.stop_asked) {
    // What it is stopped for is not free for others.
    if (width) filling_.widths->take(item, *width);
    draft_.decide(entry.decision, Verdict::kRuns, {.why = Why::kStops});
  } else if (anew_among) {
    decide_anew(entry, *anew_among);
  } else if (width) {
    decide_wider(entry, *width);
  } else if (const auto narrow = filling_.widths->narrower(item)) {
    decide_narrower(entry, *narrow);
  } else {
    draft_.decide(entry.decision, Verdict::kRuns, {.why = Why::kRuns});
  }
}

// Stopped only when its next job can be submitted at once, or it would lose its place for
// nothing.
void ActiveItems::decide_wider(const Entry& entry, const ItemWidth& width) {
  const PlanItem& item = *entry.item;
  const std::string gain = widening_text(item, width, snapshot_.limits);
  const auto kept = snapshot_.not_widened.find(item.id);
  if (kept != snapshot_.not_widened.end() && kept->second.width == width.width) {
    const std::string text = gain + "; its job is not stopped for that: " + kept->second.why;
    decide_width(entry, Verdict::kRuns, text);
    return;
  }
  std::string text = gain + ": it is stopped with a checkpoint and resumes ";
  Verdict verdict = Verdict::kRuns;
  if (!snapshot_.pause_reason.empty()) {
    text += "as soon as jobs are submitted again (" + snapshot_.pause_reason + ")";
  } else if (const std::string* why = holds_.of(item)) {
    text += "as soon as jobs of its kind are submitted (" + *why + ")";
  } else if (!item.waits && has_its_share(item, filling_)) {
    text += "as soon as fewer than " + base::counted(pending_limit(snapshot_), "job") +
            " of class urgent wait in Slurm";
  } else {
    verdict = Verdict::kWiden;
    text += "with those";
    if (!item.waits) add_pending(item, filling_);
    filling_.widths->take(item, width);
    draft_.plan.widenings.push_back({.item_id = item.id, .width = width.width});
  }
  decide_width(entry, verdict, text);
}

void ActiveItems::decide_narrower(const Entry& entry, const ItemWidth& width) {
  const PlanItem& item = *entry.item;
  std::string text = narrowing_text(item, width, snapshot_.limits);
  const auto kept = snapshot_.not_widened.find(item.id);
  const bool cannot = kept != snapshot_.not_widened.end() && kept->second.width == width.width;
  const std::string* held = holds_.of(item);
  if (cannot || held != nullptr || !snapshot_.pause_reason.empty()) {
    text += "; its job is not stopped for that: " + (cannot            ? kept->second.why
                                                     : held != nullptr ? *held
                                                                       : snapshot_.pause_reason);
    decide_width(entry, Verdict::kRuns, text);
    return;
  }
  text += ": it is stopped with a checkpoint and resumes with those";
  if (!item.waits) filling_.widths->take_narrower(width);
  draft_.plan.widenings.push_back({.item_id = item.id, .width = width.width});
  decide_width(entry, Verdict::kWiden, text);
}

void ActiveItems::decide_width(const Entry& entry, Verdict verdict, const std::string& text) {
  draft_.decide(entry.decision, verdict, {.why = Why::kWidens, .text = draft_.add_text(text)});
}

void ActiveItems::decide_anew(const Entry& entry, db::Priority over) {
  const PlanItem& item = *entry.item;
  const std::string text =
      floor_text(draft_.plan.floors.at(item.priority)) +
      ": its job in Slurm is submitted anew, to wait there as those of class " + to_string(over) +
      " do";
  draft_.plan.widenings.push_back({.item_id = item.id, .width = *item.width});
  decide_width(entry, Verdict::kWiden, text);
}

}  // namespace scheduler
