#include "db/schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "db/measures.h"
#include "tests/unit/db/full_attempt.h"
#include "tests/unit/db/stores_fixture.h"

namespace db {
namespace {

void undo_removed_items(Connection& connection) {
  for (const std::string table : {"removed_attempts", "removed_items", "removals"}) {
    connection.execute("DROP TABLE " + table);
  }
  connection.execute("DROP INDEX audit_by_time");
}

// As before the columns that it and the later ones add.
void undo_policy_columns(Connection& connection) {
  undo_removed_items(connection);
  for (const std::string column : {"segment", "by_floor", "got_further"}) {
    connection.execute(("ALTER TABLE attempts DROP COLUMN " + column).c_str());
  }
  connection.execute("ALTER TABLE items DROP COLUMN searched");
}

void undo_removed_templates(Connection& connection) {
  connection.execute("ALTER TABLE templates DROP COLUMN removed");
  connection.execute("DROP TABLE contents");
}

// As before the columns that it and the later ones add.
void undo_eleventh_step(Connection& connection) {
  undo_policy_columns(connection);
  connection.execute("DROP TABLE urgent_tokens");
  undo_removed_templates(connection);
  connection.execute("ALTER TABLE items DROP COLUMN finish_by");
  connection.execute("ALTER TABLE items DROP COLUMN group_name");
}

// As before the columns that it and the later ones add.
void undo_tenth_step(Connection& connection) {
  undo_eleventh_step(connection);
  for (const std::string column :
       {"counted_by", "orientations", "defocus_planes", "pixel_sizes", "template_size"}) {
    connection.execute(("ALTER TABLE templates DROP COLUMN " + column).c_str());
  }
  for (const std::string column :
       {"micrograph_width", "micrograph_height", "micrograph_pixel_size"}) {
    connection.execute(("ALTER TABLE items DROP COLUMN " + column).c_str());
  }
  connection.execute("DROP TABLE measures");
}

TEST_F(StoresTest, AttemptsOfAnOlderDatabaseGetTheWidthThatTheirTextSays) {
  const auto id = attempts_.insert(full_attempt(add_item("/a"), 0));
  const struct {
    const char* shape;
    int gpus, nodes, gpus_per_node;
  } kRows[] = {{"1 device", 0, 1, 0},
               {"CPU", 0, 1, 0},
               {"1 GPU", 1, 1, 1},
               {"1 node (4 GPUs)", 4, 1, 4},
               {"4 nodes (16 GPUs)", 16, 4, 4}};
  for (const auto& row : kRows) {
    {
      const std::scoped_lock lock(database_.mutex());
      Connection& connection = database_.connection();
      undo_tenth_step(connection);
      connection.execute("ALTER TABLE attempts DROP COLUMN nodes");
      connection.execute("ALTER TABLE attempts DROP COLUMN gpus_per_node");
      Statement(connection, "UPDATE attempts SET shape = ?, gpus = ?")
          .bind(std::string(row.shape))
          .bind(static_cast<int64_t>(row.gpus))
          .run();
      connection.execute("PRAGMA user_version = 8");
      upgrade_schema(connection);
    }
    EXPECT_EQ(attempts_.find(id)->nodes, row.nodes) << row.shape;
    EXPECT_EQ(attempts_.find(id)->gpus_per_node, row.gpus_per_node) << row.shape;
  }
}

TEST_F(StoresTest, OfTemplatesAndItemsBeforeTheTenthStepNothingIsCounted) {
  const auto item = add_item("/a");
  templates_.set_counts(template_, {.engine = "1.0", .orientations = 7});
  {
    const std::scoped_lock lock(database_.mutex());
    undo_tenth_step(database_.connection());
    database_.connection().execute("PRAGMA user_version = 9");
    upgrade_schema(database_.connection());
  }
  EXPECT_EQ(templates_.find(template_)->counts.engine, "");
  EXPECT_EQ(items_.find(item)->micrograph_size.width, 0);
  EXPECT_TRUE(MeasureStore(database_).all().empty());
}

TEST_F(StoresTest, ItemsBeforeTheEleventhStepHaveNoDeadlineAndNoKnownGroup) {
  const auto item = items_.insert({.micrograph_path = "/a",
                                   .template_id = template_,
                                   .owner = "ann",
                                   .group = "cryoem",
                                   .finish_by = 9});
  {
    const std::scoped_lock lock(database_.mutex());
    undo_eleventh_step(database_.connection());
    database_.connection().execute("PRAGMA user_version = 10");
    upgrade_schema(database_.connection());
  }
  EXPECT_EQ(database_.schema_version(), newest_schema());
  EXPECT_EQ(items_.find(item)->owner, "ann");
  EXPECT_EQ(items_.find(item)->group, "");
  EXPECT_EQ(items_.find(item)->finish_by, 0);
}

TEST_F(StoresTest, AttemptsBeforeTheColumnsOfThePolicyRanWhole) {
  const auto id = items_.insert({.micrograph_path = "/a", .template_id = template_});
  const auto attempt = attempts_.insert({.item_id = id, .token = "t"});
  {
    const std::scoped_lock lock(database_.mutex());
    undo_removed_templates(database_.connection());
    undo_policy_columns(database_.connection());
    database_.connection().execute("PRAGMA user_version = 12");
    upgrade_schema(database_.connection());
  }
  EXPECT_EQ(attempts_.find(attempt)->segment, 0);
  EXPECT_FALSE(attempts_.find(attempt)->by_floor);
  EXPECT_FALSE(attempts_.find(attempt)->got_further);
  EXPECT_EQ(items_.find(id)->searched, 0);
}

}  // namespace
}  // namespace db
