// The stores of a database of their own, with one template.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "db/attempts.h"
#include "db/items.h"
#include "db/sqlite.h"
#include "db/templates.h"
#include "tests/scratch_folder.h"

namespace db {

class StoresTest : public testing::Test {
 protected:
  int64_t add_item(const std::string& path, ItemState state = ItemState::kQueued,
                   Priority priority = Priority::kNormal) {
    return items_.insert(
        {.micrograph_path = path, .template_id = template_, .priority = priority, .state = state});
  }
  Attempt add_attempt(int64_t item, int number) {
    Attempt attempt{.item_id = item,
                    .number = number,
                    .token = "t-" + std::to_string(item) + "-" + std::to_string(number)};
    attempt.id = attempts_.insert(attempt);
    return attempt;
  }

  tests::ScratchFolder folder_;
  Database database_{folder_.file("margay.db")};
  TemplateStore templates_{database_};
  ItemStore items_{database_};
  AttemptStore attempts_{database_};
  const int64_t template_ = templates_.insert({.name = "ribosome"});
};

}  // namespace db
