// The records of the database, as plain data. Times are seconds since the epoch (UTC), 0 = not yet.
// States and priorities are stored by their words, never by their numbers.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace db {

enum class ItemState : uint8_t {
  kQueued,
  kHeld,
  kActive,
  kDone,
  kFailed,
  kCancelled,
  kQuarantined
};
enum class AttemptState {
  kSubmitting,
  kUnknown,
  kRejected,
  kPending,
  kRunning,
  kCompleting,
  kDone,
  kCheckpointed,
  kFailed,
  kLost,
  kCancelled,
  kNeverStarted,
};
// Priority classes, most urgent first. `live` is for sessions at a microscope and cannot be given
// on the command line.
enum class Priority : uint8_t { kLive, kUrgent, kHigh, kNormal, kLow };

// Identifies the file that a path named, in addition to size and time: a file that replaces it has
// another id.
struct FileId {
  int64_t inode = 0;    // 0: not known, and then not compared
  int64_t device = 0;   // means something only within one mount
  std::string mount{};  // the boot in which it was mounted; empty: not known
};

// The size of the searches with a template, as the engine counts it. Templates that were registered
// without an engine have empty counts.
struct SearchCounts {
  std::string engine{};  // the engine's version
  int64_t orientations = 0;
  int64_t defocus_planes = 0;
  int64_t pixel_sizes = 0;
  int64_t template_size = 0;  // voxels along a side of the volume
};

// A template volume with its search settings. Immutable: a changed file is a new version.
struct Template {
  int64_t id = 0;
  std::string name{};
  int version = 1;
  std::string volume_path{};  // canonical
  std::string volume_sha256{};
  int64_t volume_bytes = 0;
  int64_t volume_mtime_ns = 0;
  FileId volume_id{};
  std::string search_yaml{};  // Leopard-EM configuration without micrograph, as registered
  std::string search_sha256{};
  SearchCounts counts{};
  int64_t owner_uid = 0;
  std::string owner{};
  int64_t created = 0;
  int64_t removed = 0;  // when it was removed: its items keep it, and new items cannot use it
};

// Contrast transfer of one micrograph. Defocus in A, underfocus positive; angles in degrees.
struct Ctf {
  double defocus_u = 0;
  double defocus_v = 0;
  double astigmatism_angle = 0;
  double phase_shift = 0;
  std::string source{};  // "option", or the path of the CTFFIND text file
};

// Size of an image, from its header; all 0: not known.
struct ImageSize {
  int64_t width = 0;  // pixels
  int64_t height = 0;
  double pixel_size = 0;  // A; 0: the header has none
};

// One micrograph searched with one version of a template.
struct Item {
  int64_t id = 0;
  std::string micrograph_path{};  // canonical
  int64_t template_id = 0;
  int repeat = 0;  // raised by `enqueue --again`
  Priority priority = Priority::kNormal;
  ItemState state = ItemState::kQueued;
  std::string reason{};  // why it is in this state, one sentence for the user
  Ctf ctf{};
  int64_t micrograph_bytes = 0;
  int64_t micrograph_mtime_ns = 0;
  FileId micrograph_id{};
  std::string micrograph_sha256{};  // empty until the micrograph was read
  // The inode's change time when the micrograph was read; 0: it is still to be read.
  int64_t micrograph_ctime_ns = 0;
  ImageSize micrograph_size{};  // of the file that was read
  int64_t owner_uid = 0;
  std::string owner{};
  // The Unix group that the item counts for, one of its owner's; "#GID" if the group has no name;
  // empty: not known.
  std::string group{};
  std::string label{};
  bool cancel_requested = false;
  int64_t created = 0;
  int64_t changed = 0;
  int64_t not_before = 0;  // earliest time of its next attempt
  int64_t finish_by = 0;   // deadline; 0: none
  double searched = 0;     // fraction of its search, 0 to 1, that its newest checkpoint contains
  int exempt_through = 0;  // attempts up to this number do not count (`margay retry`)
  // Sbatch's options for its job: long names and values.
  std::map<std::string, std::string> options{};
};

// One try at an item; owns one folder and at most one job.
struct Attempt {
  int64_t id = 0;
  int64_t item_id = 0;
  int number = 1;
  std::string token{};  // make_token(): the job's name
  AttemptState state = AttemptState::kSubmitting;
  // Cause of a failure: bad_input, hardware, device_memory, vanished, ... While the attempt is
  // open: "stalled" if its job is being ended because it stalled.
  std::string cause{};
  std::string message{};      // the first error, for the user
  std::string shape{};        // the devices that its job gets, for the user: "1 device"
  std::string explanation{};  // the policy's reason, one sentence
  std::string script{};       // rendered
  std::string script_sha256{};
  std::string config_sha256{};  // of the engine's configuration file
  std::string directory{};      // this attempt's own folder
  std::string resume_from{};    // checkpoint of an older attempt; empty: from the start
  std::string job_id{};
  std::string host{};
  std::optional<int> exit_code{};
  std::string cluster_words{};   // the cluster's own words for the job's state, for the user
  std::string cluster_reason{};  // the cluster's reason
  int restarts = 0;              // how often it was requeued under the same id
  int gpus = 0;                  // that it asked for in all
  int nodes = 1;                 // the width that it was started with
  int gpus_per_node = 0;         // 0: processors alone
  bool release_due = false;      // submitted held; released once its id is stored
  int64_t stop_asked = 0;  // when its job was asked to checkpoint, to resume with another width
  bool exempt = false;     // failed by the site's fault: does not count against its item
  // Seconds after which its job stops with a checkpoint; 0: it runs to its end.
  int64_t segment = 0;
  bool by_floor = false;     // submitted for the floor of its class
  bool got_further = false;  // its last checkpoint is later than the one that it began with
  int64_t created = 0;
  int64_t submitted = 0;
  int64_t started = 0;
  int64_t ended = 0;
};

// A failure that may be its host's fault.
struct HostFailure {
  std::string host{};
  int64_t item_id = 0;
  int64_t attempt_id = 0;
  std::string cause{};
  int64_t time = 0;
  // When the search began whose device failed its probe, as long as no later search has passed its
  // probe; otherwise 0.
  int64_t row_start = 0;
};

// The accepted manifest of a finished item.
struct Result {
  int64_t item_id = 0;
  int64_t attempt_id = 0;
  std::string manifest_path{};
  std::string peaks_csv{};
  int64_t peaks = 0;
  double cutoff = 0;
  double best_z = 0;
  int64_t correlations = 0;
  double seconds = 0;
  std::string manifest_json{};
  int64_t stored = 0;
};

// What was measured on finished searches: correlations per second of one device, straggler loss,
// seconds of the serial part, seconds of the start (scheduler/forecast/rates.h).
enum class MeasureKind { kRate, kLoss, kSerial, kStart };

// The running mean of the logarithms of one quantity. Fields that do not matter to its kind are
// empty or 0. `gpus` of kStart is 1 for one GPU, 2 for one node, 3 for several nodes.
struct Measure {
  MeasureKind kind = MeasureKind::kRate;
  std::string engine{};  // the engine's version
  std::string device{};  // model
  int64_t height = 0;    // of the image
  int64_t width = 0;
  int64_t template_size = 0;
  int64_t gpus = 0;
  int64_t runs = 0;
  double mean = 0;     // of log(value)
  double squares = 0;  // sum of the squared deviations from the mean
};

// A command that changed something, and who ran it.
struct AuditEntry {
  int64_t id = 0;
  int64_t time = 0;
  int64_t uid = 0;
  std::string who{};
  std::string action{};
  int64_t item_id = 0;
  std::string detail{};
};

// One of a group's tokens, taken to make an item urgent.
struct UrgentToken {
  int64_t id = 0;
  std::string group{};
  int64_t time = 0;
  int64_t item_id = 0;
  int64_t uid = 0;  // who took it
  std::string who{};
};

// An administrator's pause of all submissions. There is at most one.
struct Pause {
  int64_t id = 1;
  int64_t uid = 0;
  std::string who{};
  std::string reason{};  // may be empty
  int64_t since = 0;
};

// An administrator's pause of one lane.
struct LanePause {
  // The lane: the account, partition, QOS and reservation that its jobs ask for, each as option ->
  // value.
  std::map<std::string, std::string> place{};
  int64_t uid = 0;
  std::string who{};
  std::string reason{};  // may be empty
  int64_t since = 0;
};

// The names that our jobs have in the cluster: "margay-<instance>-" and, for an attempt,
// "margay-<instance>-<item>-a<number>". `instance` is Database::instance(), so that the jobs of two
// daemons in one cluster are never mistaken for each other's.
std::string token_prefix(const std::string& instance);
std::string make_token(const std::string& instance, int64_t item_id, int number);

// States are upper-case words, priorities lower-case ones; parse() returns nullopt for other words.
std::string to_string(ItemState state);
std::string to_string(AttemptState state);
std::string to_string(Priority priority);
std::string to_string(MeasureKind kind);
template <typename Value>
std::optional<Value> parse(const std::string& word);
template <>
std::optional<ItemState> parse(const std::string& word);
template <>
std::optional<AttemptState> parse(const std::string& word);
template <>
std::optional<Priority> parse(const std::string& word);
template <>
std::optional<MeasureKind> parse(const std::string& word);
const std::vector<ItemState>& item_states();
// All words of that type, as a list for SQL: "'QUEUED', 'HELD'".
template <typename Value>
std::string words_for_sql();
template <>
std::string words_for_sql<ItemState>();
template <>
std::string words_for_sql<AttemptState>();
template <>
std::string words_for_sql<Priority>();
template <>
std::string words_for_sql<MeasureKind>();

}  // namespace db
