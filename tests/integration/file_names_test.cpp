// From `margay enqueue` to the peak list with the names that people give their files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "db/database.h"
#include "db/items.h"
#include "db/measures.h"
#include "db/results.h"
#include "db/templates.h"
#include "scheduler/api/peaks.h"
#include "scheduler/forecast/rates.h"
#include "tests/integration/queue_at_work.h"

namespace tests {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;

const std::string kData = MARGAY_SOURCE_DIR "/tests/data/";

// Enough to find one of the crop's two particles within a second or so.
constexpr const char* kSearch = R"(
optics_group: {label: lsu, pixel_size: 2.0, voltage: 300.0, spherical_aberration: 2.7,
               amplitude_contrast_ratio: 0.07}
defocus_search_config: {enabled: false}
orientation_search_config:
  orientation_configs:
  - {psi_step: 30.0, theta_step: 30.0, symmetry: C1}
  - {psi_step: 6.0, theta_step: 5.0, symmetry: null, phi_min: 122.0, phi_max: 132.0,
     theta_min: 79.0, theta_max: 89.0, psi_min: 276.0, psi_max: 288.0}
preprocessing_filters: {whitening_filter: {enabled: true}}
computational_config: {gpu_ids: cpu}
)";

// Of the first peak.
std::string micrograph_of(const std::string& peaks_csv) {
  std::ifstream file(peaks_csv, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto rows = scheduler::api::parse_csv(text);
  if (rows.size() < 2) return "no peak in " + peaks_csv;
  const auto column = std::find(rows[0].begin(), rows[0].end(), "micrograph_path");
  return rows[1].at(static_cast<size_t>(column - rows[0].begin()));
}

TEST(TemplateSettings, ThatTheEngineRefusesAreRefusedWhenTheyAreRegistered) {
  QueueAtWork queue(MARGAY_BIN_DIR "/margay-engine");
  queue.start_daemon();
  const auto add = [&](const std::string& volume, const std::string& settings) {
    const std::string path = queue.folder().write("search.yaml", settings);
    return queue.margay({"template", "add", volume, "--name", "lsu", "--config", path});
  };
  const std::string volume = kData + "lsu_2.0A_128.mrc";
  const Finished steps = add(volume, std::string(kSearch) + "whitening: {}\n");
  EXPECT_EQ(steps.exit_code, 1);
  EXPECT_THAT(steps.error,
              HasSubstr("'" + queue.folder() / "search.yaml" + "': unknown key 'whitening'"));
  const Finished flat = add(kData + "lsu_crop.mrc", kSearch);
  EXPECT_EQ(flat.exit_code, 1);
  EXPECT_THAT(flat.error, HasSubstr("template_volume_path: '" + kData + "lsu_crop.mrc' is a 2-D "));
  EXPECT_THAT(queue.margay({"template", "list"}).output, HasSubstr("no templates"));
  const Finished added = add(volume, kSearch);
  EXPECT_EQ(added.exit_code, 0) << added.error;
  EXPECT_EQ(added.error, "");
  EXPECT_THAT(added.output, HasSubstr(" orientations x 1 defocus plane\n"));
  EXPECT_EQ(queue.margay({"stop"}).exit_code, 0);
}

// From the engine's own manifests: how long the next search of this size takes.
void expect_learned(const QueueAtWork& queue, int64_t runs) {
  std::optional<db::Database> database;
  ASSERT_TRUE(QueueAtWork::becomes_true([&] {
    try {
      database.emplace(queue.folder() / "state/margay.db");
    } catch (const db::DatabaseHeld&) {
      return false;  // the daemon is still ending
    }
    return true;
  }));
  const auto item = db::ItemStore(*database).find(1).value();
  const scheduler::SearchSize search{
      .counts = db::TemplateStore(*database).find(item.template_id).value().counts,
      .image = item.micrograph_size};
  const auto known = db::MeasureStore(*database).all();
  const auto estimate = scheduler::estimate_work(known, {}, search);
  ASSERT_TRUE(estimate) << scheduler::why_unknown(search);
  EXPECT_EQ(estimate->source, scheduler::RateSource::kMeasured);
  EXPECT_EQ(estimate->runs, runs);
  EXPECT_GT(estimate->seconds, 0);
  EXPECT_THAT(estimate->device, HasSubstr(" thread"));
  EXPECT_EQ(estimate->correlations,
            static_cast<double>(db::ResultStore(*database).find(1).value().correlations));
}

TEST(FileNames, BlanksQuotesLineBreaksAndForeignLettersArriveInThePeakList) {
  const std::vector<std::string> names = {"it's \"grid 1\", $(touch x) `y` \\n %41 *.mrc",
                                          "line\nbreak # Größe 日本: {a}.mrc"};
  QueueAtWork queue(MARGAY_BIN_DIR "/margay-engine");
  queue.start_daemon();
  const fs::path folder = fs::path(queue.folder().path()) / "a folder's\nname";
  fs::create_directory(folder);
  std::ofstream(folder / "search.yaml") << kSearch;
  const Finished added = queue.margay({"template", "add", kData + "lsu_2.0A_128.mrc", "--name",
                                       "lsu", "--config", (folder / "search.yaml").string()});
  ASSERT_EQ(added.exit_code, 0) << added.error;
  std::vector<std::string> command = {"enqueue", "--template", "lsu", "--ctf",
                                      "{dir}/{stem}_ctf.txt"};
  for (const std::string& name : names) {
    fs::copy_file(kData + "lsu_crop.mrc", folder / name);
    std::ofstream(folder / (fs::path(name).stem().string() + "_ctf.txt"))
        << "# CTFFIND\n1.0 10200.0 9800.0 35.0 0.0 0.1 4.5\n";
    command.push_back((folder / name).string());
  }
  const Finished enqueued = queue.margay(command);
  ASSERT_EQ(enqueued.exit_code, 0) << enqueued.error;
  EXPECT_EQ(queue.margay({"wait", "--timeout", "10m"}).exit_code, 0)
      << queue.margay({"list"}).output;
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string number = std::to_string(i + 1);
    const json result = json::parse(queue.margay({"results", number, "--json"}).output);
    const json& answer = result.at("result");
    EXPECT_EQ(answer.at("item").at("micrograph"), (folder / names[i]).string());
    EXPECT_EQ(answer.at("peak_list").size(), 1U);
    EXPECT_EQ(answer.at("pictures").size(), 3U);
    EXPECT_EQ(micrograph_of(answer.at("peaks_csv")), (folder / names[i]).string());
  }
  EXPECT_THAT(queue.margay({"list"}).output, HasSubstr("line\\nbreak # Größe 日本: {a}.mrc"));
  EXPECT_EQ(queue.margay({"stop"}).exit_code, 0);
  expect_learned(queue, static_cast<int64_t>(names.size()));
}

}  // namespace
}  // namespace tests
