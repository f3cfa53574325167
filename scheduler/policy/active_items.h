// Decides what becomes of items that have a job: it runs, or it is stopped with a checkpoint to
// resume wider, narrower, or at another place of the cluster's queue. Pure.
#pragma once

#include <optional>
#include <string>

#include "scheduler/policy/filling.h"
#include "scheduler/policy/holds.h"
#include "scheduler/policy/plan_draft.h"
#include "scheduler/policy/queue_snapshot.h"
#include "scheduler/policy/ready_order.h"

namespace scheduler {

// Works on the plan while it is made; all that it is given must outlive it.
class ActiveItems {
 public:
  ActiveItems(const QueueSnapshot& snapshot, Holds& holds, Filling& filling, PlanDraft& draft)
      : snapshot_(snapshot), holds_(holds), filling_(filling), draft_(draft) {}

  // `anew_among`: its job waits in the cluster and is submitted anew, to wait among those of this
  // class. A job that was started with the urgent width stays, although the item's own options
  // asked for less; and so does one whose own options say how large it is, whatever its class.
  void decide(const Entry& entry, std::optional<db::Priority> anew_among);

 private:
  void decide_wider(const Entry& entry, const ItemWidth& width);
  void decide_narrower(const Entry& entry, const ItemWidth& width);
  void decide_width(const Entry& entry, Verdict verdict, const std::string& text);
  void decide_anew(const Entry& entry, db::Priority over);

  const QueueSnapshot& snapshot_;
  Holds& holds_;
  Filling& filling_;
  PlanDraft& draft_;
};

}  // namespace scheduler
