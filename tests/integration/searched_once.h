// Whether every item was searched, and once: counted by what the engine itself wrote, never by the
// database.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "tests/integration/queue_at_work.h"

namespace tests {

inline void expect_all_done(const QueueAtWork& queue, int items) {
  EXPECT_TRUE(QueueAtWork::becomes_true([&] { return queue.all_ended(); }));
  std::map<int, std::string> done;
  for (int item = 1; item <= items; ++item) done[item] = "DONE";
  EXPECT_EQ(queue.item_states(), done) << queue.margay({"list"}).output;
}

inline void expect_each_searched_once(const QueueAtWork& queue, int items) {
  expect_all_done(queue, items);
  std::map<int, int> once;
  for (int item = 1; item <= items; ++item) once[item] = 1;
  EXPECT_EQ(queue.effects("started"), once);
  EXPECT_EQ(queue.effects("finished"), once);
}

}  // namespace tests
