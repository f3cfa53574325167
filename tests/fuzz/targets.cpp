#include "tests/fuzz/targets.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/json.h"
#include "base/slurm_lists.h"
#include "base/untrusted_file.h"
#include "base/yaml_load.h"
#include "engine/config/config_reader.h"
#include "engine/error.h"
#include "engine/io/mrc.h"
#include "engine/results/checkpoint.h"
#include "engine/results/manifest.h"
#include "scheduler/api/job_files.h"
#include "scheduler/api/peaks.h"
#include "scheduler/api/submission.h"
#include "scheduler/config/config.h"
#include "scheduler/config/config_reader.h"
#include "scheduler/errors.h"
#include "scheduler/files/attempt_folder.h"
#include "scheduler/http/http_message.h"
#include "scheduler/ingest/cryosparc.h"
#include "scheduler/ingest/ctffind.h"
#include "scheduler/ingest/image_size.h"
#include "scheduler/ingest/parse_list.h"
#include "scheduler/ingest/relion.h"
#include "scheduler/ingest/star.h"
#include "scheduler/results/learn_rates.h"
#include "scheduler/results/manifest_result.h"
#include "scheduler/script/engine_config.h"
#include "slurm/commands/parse.h"
#include "slurm/gpu_count.h"
#include "slurm/job/job_folder.h"
#include "slurm/job/process_identity.h"
#include "slurm/rest/access_token.h"
#include "slurm/rest/json.h"
#include "slurm/sbatch/directives.h"
#include "slurm/sbatch/values.h"
#include "tests/scratch_folder.h"
#include "tests/unit/slurm/rest/tokens.h"

namespace tests {
namespace {

// A file that holds `bytes`, without a disk.
class MemoryFile {
 public:
  explicit MemoryFile(const std::string& bytes)
      : bytes_(static_cast<int64_t>(bytes.size())), file_(::memfd_create("fuzz", MFD_CLOEXEC)) {
    if (!file_) base::throw_errno("memfd_create");
    if (::write(file_.get(), bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) {
      base::throw_errno("write");
    }
  }
  int descriptor() const { return file_.get(); }
  int64_t bytes() const { return bytes_; }
  std::string path() const { return "/proc/self/fd/" + std::to_string(file_.get()); }

 private:
  int64_t bytes_;
  base::Descriptor file_;
};

template <typename Refusal, typename Parse>
void parse_or_refuse(Parse parse) {
  try {
    parse();
  } catch (const Refusal&) {
    return;
  }
}

void mrc(const std::string& bytes) {
  const MemoryFile file(bytes);
  const db::ImageSize size = scheduler::image_size(file.descriptor(), file.bytes());
  if (size.width < 0 || size.height < 0) std::abort();
  parse_or_refuse<engine::InputError>([&] { engine::read_mrc_header(file.path()); });
  parse_or_refuse<engine::InputError>([&] { engine::read_mrc(file.path()); });
}

void search_yaml(const std::string& bytes) {
  parse_or_refuse<engine::InputError>([&] { engine::parse_search_config(bytes, "search.yaml"); });
}

void searched_maps(const std::string& bytes) {
  const MemoryFile file(bytes);
  parse_or_refuse<engine::InputError>(
      [&] { engine::read_searched_maps(file.path(), "/maps/scaled_mip.mrc"); });
}

void template_yaml(const std::string& bytes) {
  parse_or_refuse<scheduler::SearchSettingsError>([&] {
    scheduler::check_search_settings(bytes);
    scheduler::engine_config({.search_yaml = bytes,
                              .template_path = "/t.mrc",
                              .micrograph_path = "/m.mrc",
                              .ctf = {},
                              .folder = "/f"});
  });
}

void daemon_yaml(const std::string& bytes) {
  parse_or_refuse<scheduler::ConfigError>([&] { scheduler::parse_config(bytes, "margayd.yaml"); });
}

void ctffind(const std::string& bytes) {
  parse_or_refuse<scheduler::ingest::IngestError>(
      [&] { scheduler::ingest::parse_ctffind(bytes, "a.txt"); });
}

void exposures(const std::string& bytes) {
  parse_or_refuse<scheduler::ingest::IngestError>(
      [&] { scheduler::ingest::parse_cryosparc(bytes, "a.cs"); });
}

void micrographs_star(const std::string& bytes) {
  parse_or_refuse<scheduler::ingest::IngestError>(
      [&] { scheduler::ingest::parse_relion(bytes, "a.star"); });
  parse_or_refuse<scheduler::ingest::IngestError>(
      [&] { scheduler::ingest::parse_list(bytes, "a"); });
  // What was written is read back.
  const std::string value = bytes.substr(0, bytes.find_first_of(std::string("\r\n\0", 3)));
  const auto word = scheduler::ingest::star_value(value);
  if (!word) return;
  const auto tables = scheduler::ingest::parse_star("data_\n_a " + *word + "\n", "a.star");
  if (tables.at(0).rows.at(0).values.at(0) != value) std::abort();
}

void peaks(const std::string& bytes) {
  parse_or_refuse<std::runtime_error>([&] { scheduler::api::read_peaks(bytes, "peaks.csv"); });
}

void checkpoint(const std::string& bytes) {
  const MemoryFile file(bytes);
  try {
    engine::read_checkpoint(file.path());
  } catch (const engine::InputError&) {
    return;
  } catch (const engine::DamagedCheckpoint&) {
    return;
  }
}

// An attempt whose folder holds this one file.
struct AttemptWith {
  AttemptWith(const char* file, const std::string& bytes) {
    attempt.directory = folder.path();
    folder.write(file, bytes);
  }
  ScratchFolder folder{"/dev/shm"};
  db::Attempt attempt;
};

void manifest(const std::string& bytes) {
  const AttemptWith with(scheduler::kManifestFile, bytes);
  scheduler::read_manifest(with.attempt, {}, 0);
  db::Result result;
  result.manifest_json = bytes;
  if (const auto search = scheduler::finished_search(with.attempt, result)) {
    scheduler::learn({}, *search);
  }
}

void progress(const std::string& bytes) {
  const AttemptWith with(scheduler::kProgressFile, bytes);
  nlohmann::json entry;
  scheduler::api::put_progress(with.attempt, entry);
  scheduler::done_units(with.attempt.directory);
  [[maybe_unused]] const std::string shown = entry.dump();
}

void log(const std::string& bytes) {
  const AttemptWith with(scheduler::kLogFile, bytes);
  scheduler::last_error(bytes);
  [[maybe_unused]] const std::string shown = scheduler::api::log_piece(with.attempt, 0).dump();
}

void process_record(const std::string& bytes) {
  const auto record = slurm::decode(bytes);
  if (!record) return;
  slurm::to_identity(*record);
  slurm::to_exit_record(*record);
  slurm::to_local_request(*record);
}

void directives(const std::string& bytes) {
  parse_or_refuse<slurm::DirectiveError>([&] {
    const slurm::Directives found = slurm::parse_directives(bytes, "job.sh");
    slurm::check(found, "job.sh");
    slurm::resources_of(found, "job.sh");
    slurm::with_directives(bytes, found);
  });
}

void option_values(const std::string& bytes) {
  slurm::parse_count(bytes);
  slurm::parse_time(bytes);
  slurm::parse_memory(bytes);
  slurm::parse_nodes(bytes);
  slurm::parse_gres(bytes);
  slurm::parse_gpus(bytes);
  slurm::gpus_of_gres(bytes);
  slurm::parse_signal(bytes);
  slurm::gpus_in(bytes);
  slurm::gpu_kinds_in(bytes);
  base::hosts_in(bytes);
  base::tasks_in(bytes);
  base::count_of_host(bytes, 3);
}

void slurm_json(const std::string& bytes) {
  slurm::problem_of(slurm::ApiVersion::kV38, {.status = 200, .body = bytes});
  slurm::classify_submit({.status = 200, .body = bytes});
  slurm::parse_job(bytes);
  if (const auto job = slurm::parse_queued_job(bytes)) slurm::shares_of(*job);
  slurm::parse_accounting_jobs(bytes);
  slurm::parse_partitions(bytes);
  slurm::parse_node_totals(bytes);
  slurm::parse_qos(bytes);
  slurm::parse_associations(bytes, "ann");
  slurm::controller_time(bytes);
  slurm::slurm_release(bytes);
  slurm::offered_versions(bytes);
  slurm::JobListing listing([](const std::string& object) {
    if (const auto job = slurm::parse_queued_job(object)) slurm::shares_of(*job);
  });
  listing.feed(bytes);
}

void slurm_text(const std::string& bytes) {
  slurm::parse_squeue(bytes, "margay-");
  for (const slurm::QueuedJob& job : slurm::parse_squeue_of_everybody(bytes, "margay-").jobs) {
    slurm::shares_of(job);
  }
  slurm::parse_sacct(bytes, "margay-x-1-a1");
  slurm::parse_sinfo_nodes(bytes);
  slurm::release_of(bytes);
  slurm::parse_config(bytes);
  slurm::parse_partitions_text(bytes);
  slurm::parse_qos_text(bytes);
  slurm::parse_associations_text(bytes, "ann");
}

void http_head(const std::string& bytes) {
  parse_or_refuse<scheduler::api::RequestRefused>([&] {
    const size_t length = scheduler::api::head_length(bytes, 0);
    if (length > 0) scheduler::api::parse_head(bytes.substr(0, length), 4'000'000);
  });
}

// The claims, which anybody may have written: a token's signature is not checked here.
void token_claims(const std::string& bytes) {
  const auto facts = slurm::read_token_facts(slurm::token_of(bytes));
  if (facts && facts->expires.value_or(0) < 0) std::abort();
}

// With a file passed along that no item may have.
void http_body(const std::string& bytes) {
  namespace api = scheduler::api;
  api::Request request{.method = "POST", .body = bytes};
  request.files.emplace_back(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  nlohmann::json body;
  parse_or_refuse<scheduler::CommandError>([&] { body = api::body_of(request); });
  if (!body.is_object()) return;
  parse_or_refuse<scheduler::CommandError>([&] { api::retry_request(body); });
  parse_or_refuse<scheduler::CommandError>([&] { api::template_request(body); });
  parse_or_refuse<scheduler::CommandError>([&] { api::facts_of(api::take_passed(request, body)); });
  const auto items = body.find("items");
  if (items == body.end() || !items->is_array()) return;
  for (const nlohmann::json& entry : *items) {
    parse_or_refuse<scheduler::CommandError>([&] { api::enqueue_request(body, entry); });
    parse_or_refuse<scheduler::CommandError>(
        [&] { api::facts_of(api::take_passed(request, entry)); });
  }
}

}  // namespace

const std::vector<FuzzTarget>& fuzz_targets() {
  static const std::vector<FuzzTarget> all = {
      {"checkpoint", checkpoint},
      {"ctffind", ctffind},
      {"daemon_yaml", daemon_yaml},
      {"directives", directives},
      {"exposures", exposures},
      {"http_body", http_body},
      {"http_head", http_head},
      {"log", log},
      {"manifest", manifest},
      {"micrographs_star", micrographs_star},
      {"mrc", mrc},
      {"option_values", option_values},
      {"peaks", peaks},
      {"process_record", process_record},
      {"progress", progress},
      {"search_yaml", search_yaml},
      {"searched_maps", searched_maps},
      {"slurm_json", slurm_json},
      {"slurm_text", slurm_text},
      {"template_yaml", template_yaml},
      {"token_claims", token_claims},
  };
  return all;
}

}  // namespace tests
