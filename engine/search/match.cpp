#include "engine/search/match.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <mutex>
#include <optional>
#include <utility>

#include "engine/backend/crop_error.h"
#include "engine/config/input_checks.h"
#include "engine/error.h"
#include "engine/io/format.h"
#include "engine/io/input_errors.h"
#include "engine/io/mrc.h"
#include "engine/io/seconds_since.h"
#include "engine/pictures/pictures.h"
#include "engine/ranks/exchange.h"
#include "engine/ranks/group_log.h"
#include "engine/ranks/leader.h"
#include "engine/results/peaks_csv.h"
#include "engine/results/progress.h"
#include "engine/search/plan_text.h"
#include "engine/search/plausibility.h"

namespace engine {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

std::string now_text() { return utc_time_text(std::chrono::system_clock::now()); }

ProblemShape shape_of(const Problem& p) {
  return {p.height, p.width, p.template_size, p.planes(),
          static_cast<int64_t>(p.orientations.size())};
}

float largest(const Image& image) {
  return *std::max_element(image.pixels.begin(), image.pixels.end());
}

// Everything about one match, from reading to the manifest.
class Match {
 public:
  Match(SearchConfig config, const MatchOptions& options)
      : options_(options),
        picking_(peak_options(options.peaks, config)),
        outputs_(output_paths(config, options.output)) {
    if (!options.progress.empty()) outputs_.progress = options.progress;
    manifest_.config = std::move(config);
    manifest_.attempt = options.attempt;
    manifest_.outputs = outputs_;
    manifest_.numerics_version = kNumericsVersion;
    manifest_.timings.started = now_text();
  }

  std::optional<FinishedSearch> run(const std::atomic<bool>& stop) {
    RankGroupOptions rank_group = options_.rank_group;
    rank_group.message = [this](const std::string& sentence) { note(sentence); };
    rank_group.log = [this](const std::string& line) { say(line); };
    // The other ranks may arrive while this one reads.
    Leader leader(std::move(rank_group));
    try {
      std::optional<FinishedSearch> done = run(stop, leader);
      log_end(done ? "done" : "stopped", leader.size());
      return done;
    } catch (const Error& error) {
      leader.abandon(error);
      log_end("failed", leader.size());
      throw;
    } catch (const std::exception& error) {
      leader.abandon(Error(ExitCode::kDeviceFault, error.what()));
      log_end("failed", leader.size());
      throw;
    }
  }

 private:
  std::optional<FinishedSearch> run(const std::atomic<bool>& stop, Leader& leader) {
    {
      const auto busy = leader.watchdog().busy(Activity::kFiles);
      read();
    }
    RunResult result = search(stop, leader);
    if (result.stopped) {
      result.progress.state = "stopped";
      reporter_->finish(result.progress);
      return std::nullopt;
    }
    std::vector<Peak> peaks = write(result);
    return FinishedSearch{.manifest = std::move(manifest_),
                          .peaks = std::move(peaks),
                          .template_size = template_size_};
  }

  void log_end(const std::string& outcome, int ranks) const {
    if (ranks > 1) say(end_line(outcome, seconds_since(begun_), ranks));
  }

  void say(const std::string& line) const {
    if (options_.message) options_.message(line);
  }

  void read() {
    const auto start = Clock::now();
    SearchConfig& config = manifest_.config;
    InputFiles files = read_inputs(config, options_.allow_pixel_size_mismatch);
    template_size_ = files.volume.header.nx;
    plan(files.micrograph.header.ny, files.micrograph.header.nx);
    manifest_.input_hashes = hash_inputs(config, files);
    micrograph_ = to_image(std::move(files.micrograph));
    volume_ = to_volume(std::move(files.volume));
    manifest_.timings.read = seconds_since(start);
  }

  void plan(int height, int width) {
    SearchConfig& config = manifest_.config;
    const SearchSpace space = make_search_space(config);
    DeviceOptions wanted = options_.device;
    const bool alone = options_.rank_group.place.size == 1;
    // With several ranks the launcher decides which rank has which device.
    wanted.device =
        alone ? first_device(config.computation.gpu_ids, devices_for(wanted.backend).count)
              : device_of(options_.rank_group.place, wanted.backend);
    if (devices_for(wanted.backend).count > 0) {
      wanted.exchange =
          exchange_memory(options_.rank_group.collectives, options_.rank_group.place.size);
    }
    const ProblemShape shape{height, width, template_size_, static_cast<int>(space.planes.size()),
                             space.orientations()};
    grid_ = search_grid_of(config, height, width, template_size_);
    const std::string note_of_crop = crop_note(config, grid_);
    if (!note_of_crop.empty()) config.notes.push_back(note_of_crop);
    device_ = plan_device(on_grid(shape, grid_), wanted);
    if (device_.precision != "fp32") {
      exact_device_ = plan_device(on_grid(shape, grid_), in_single_precision(wanted));
    }
    sample_device_ = in_single_precision(wanted);
    manifest_.micrograph_height = height;
    manifest_.micrograph_width = width;
    const uint64_t map_pixels =
        static_cast<uint64_t>(map_height()) * static_cast<uint64_t>(map_width());
    check_files(map_pixels);
    if (grid_) add_crop_memory(device_, shape, *grid_, sample_device_);
    if (!picking_.cutoff) {  // refused now, not after the search
      const auto counted = [&](int pixels) {
        return static_cast<double>(grid_ ? grid_->pixels_within(pixels) : pixels);
      };
      noise_cutoff(counted(map_height()) * counted(map_width()),
                   static_cast<double>(space.correlations()), picking_.false_positives);
    }
    const std::string note_of_devices =
        alone ? devices_note(device_, config.computation.gpu_ids) : "";
    if (!note_of_devices.empty()) config.notes.push_back(note_of_devices);
    for (const std::string& warning : implausible_settings(config)) say("warning: " + warning);
    for (const std::string& note : config.notes) say("note: " + note);
    for (const std::string& note : device_.notes) say("note: " + note);
    say(describe_plan(config, space, shape, grid_, device_));
    manifest_.device = describe_device(device_);
    manifest_.precision = device_.precision;
    manifest_.fft = device_.fft;
    manifest_.tiling = device_.tiling;
    manifest_.orientations = space.orientations();
    manifest_.defocus_planes = static_cast<int64_t>(space.planes.size());
    manifest_.correlations = space.correlations();
    manifest_.units = static_cast<int64_t>(space.units.size());
    manifest_.template_size = template_size_;
    manifest_.grid = grid_;
  }

  int map_height() const { return manifest_.micrograph_height - template_size_ + 1; }
  int map_width() const { return manifest_.micrograph_width - template_size_ + 1; }

  // What cannot be written, or would destroy an input, must be refused before hours are spent.
  void check_files(uint64_t map_pixels) const {
    constexpr uint64_t kPictures = 8 << 20;
    OutputChecks checks = {.overwrite = options_.overwrite,
                           .csv_path = outputs_.csv,
                           .bytes_needed = map_pixels * 8 * sizeof(float) + kPictures};
    checks.refuse_results = !had_begun_to_write(outputs_.progress);
    checks.other_files.emplace_back("--progress", outputs_.progress);
    for (const auto& [name, path] : picture_paths(outputs_.beginning)) {
      checks.other_files.emplace_back("picture", path);
    }
    if (!options_.checkpoint.empty()) {
      checks.other_files.emplace_back("--checkpoint", options_.checkpoint);
    }
    check_outputs(manifest_.config, outputs_.manifest, checks);
    std::error_code ignored;  // then there is nothing to note
    if (options_.resume.empty() && !options_.checkpoint.empty() &&
        fs::exists(options_.checkpoint, ignored)) {
      say("note: --checkpoint: '" + options_.checkpoint +
          "' exists and will be replaced; to resume from it, stop this search and use "
          "--resume '" +
          options_.checkpoint + "'");
    }
  }

  RunResult search(const std::atomic<bool>& stop, Leader& leader) {
    reporter_.emplace(outputs_.progress);
    const auto start = Clock::now();
    Search search = prepare(leader);
    measure_crop(search, leader);
    manifest_.search_hash = search.identity.hash();
    if (leader.size() > 1) give_inputs(search, leader, stop);
    std::unique_ptr<Backend> backend = start_device(search, leader);
    manifest_.timings.preprocess = seconds_since(start);
    const RunOptions run{.checkpoint = options_.checkpoint,
                         .checkpoint_every = options_.checkpoint_every,
                         .resume = options_.resume,
                         .report = [this](const Progress& p) { reporter_->report(p); },
                         .message = [this](const std::string& s) { note(s); }};
    RunResult result = run_search(search, *backend, run, stop, leader);
    for (const PeerInfo& one : leader.peers()) {
      manifest_.other_ranks.push_back({one.rank, one.host, one.device, leader.merged_by(one.rank)});
    }
    manifest_.rank_0_correlations = leader.merged_by(0);
    manifest_.timings.search = result.seconds;
    manifest_.resumed_units = result.resumed_units;
    if (!result.stopped) make_maps(search, std::move(backend), result);
    return result;
  }

  void make_maps(const Search& search, std::unique_ptr<Backend> backend, RunResult& result) {
    backend.reset();
    maps_ = finalise(result.accumulators, search.space.list.orientations, search.space.planes);
    result.accumulators = {};
    if (!grid_) return;
    maps_ = on_micrograph(maps_, *grid_, map_height(), map_width());
    // A padded grid has pixels beyond those of the maps.
    result.best_z = result.progress.best_z = static_cast<double>(largest(maps_.scaled_mip));
  }

  Search prepare(Leader& leader) {
    const auto busy = leader.watchdog().busy(Activity::kStart);
    Search search = prepare_search(manifest_.config, micrograph_, volume_);
    for (const std::string& sentence : search.notes) note(sentence);
    volume_ = {};
    return search;
  }

  void give_inputs(Search& search, Leader& leader, const std::atomic<bool>& stop) {
    constexpr std::chrono::seconds kLastOrder{5};
    try {
      const std::string identity =
          identity_of({.backend = device_.backend, .device = device_.device});
      share(leader.assemble(communicator(), device_.device, identity, stop), search.problem,
            search.space.units);
    } catch (const CommunicatorLost& e) {
      // The order to end names the rank that was lost.
      leader.next(kLastOrder);
      throw Error(ExitCode::kDeviceFault,
                  std::string("the inputs of the search did not reach all ranks: ") + e.what());
    }
  }

  // The collectives by which the ranks exchange inputs and statistics.
  std::string communicator() {
    const std::string& wanted = options_.rank_group.collectives;
    if (wanted != "auto") return wanted;
    if (device_.backend != "cuda") return "gloo";
    if (comm::has_nccl()) return "nccl";
    note("NCCL is not available; the ranks exchange their statistics by Gloo, through the CPUs");
    return "gloo";
  }

  std::unique_ptr<Backend> start_device(const Search& search, Leader& leader) {
    const auto busy = leader.watchdog().busy(Activity::kStart);
    return make_measured_backend(search);
  }

  // The device never holds two backends. The template on the search's grid is the search's own.
  void measure_crop(Search& search, Leader& leader) {
    if (!search.sample) return;
    const auto busy = leader.watchdog().busy(Activity::kStart);
    const std::vector<Unit> units = sample_units(search.space.units);
    CropSample& sample = *search.sample;
    const Accumulators whole = correlate_sample(sample.whole, units);
    sample.whole = {};
    Problem& part = search.problem;
    const auto exchange = [&] {
      std::swap(part.image_spectrum, sample.image_spectrum);
      std::swap(part.height, sample.grid.height);
      std::swap(part.width, sample.grid.width);
    };
    exchange();
    const Accumulators cropped = correlate_sample(part, units);
    exchange();
    manifest_.crop_error =
        crop_error(whole, cropped, sample.grid, static_cast<int64_t>(units.size()));
    search.sample.reset();
    note(describe_crop_error(*manifest_.crop_error));
  }
  Accumulators correlate_sample(const Problem& problem, const std::vector<Unit>& units) const {
    const DevicePlan plan = plan_device(shape_of(problem), sample_device_);
    return accumulate_sample(*make_backend(problem, plan), units);
  }

  // The error of a reduced precision is measured first. The device never holds both backends.
  std::unique_ptr<Backend> make_measured_backend(const Search& search) {
    if (!exact_device_) return make_backend(search.problem, device_);
    const std::vector<Unit> sample = sample_units(search.space.units);
    const Accumulators exact =
        accumulate_sample(*make_backend(search.problem, *exact_device_), sample);
    std::unique_ptr<Backend> backend = make_backend(search.problem, device_);
    manifest_.precision_error = precision_error(exact, accumulate_sample(*backend, sample),
                                                static_cast<int64_t>(sample.size()));
    note(describe_precision_error(device_.precision, *manifest_.precision_error));
    return backend;
  }

  // The leader's threads have notes, too.
  void note(const std::string& sentence) {
    say("note: " + sentence);
    const std::lock_guard lock(notes_mutex_);
    manifest_.notes.push_back(sentence);
  }

  std::vector<Peak> write(RunResult& result) {
    const auto start = Clock::now();
    result.progress.state = "writing";
    reporter_->report(result.progress);
    const SearchConfig& config = manifest_.config;
    std::vector<Peak> peaks = find_peaks(maps_, picking_, grid_);
    manifest_.map_height = maps_.height;
    manifest_.map_width = maps_.width;
    manifest_.peaks = static_cast<int64_t>(peaks.size());
    manifest_.peak_metric = picking_.metric == PeakMetric::kMip ? "mip" : "scaled-mip";
    manifest_.false_positives = picking_.false_positives;
    manifest_.mask_radius = picking_.mask_radius;
    manifest_.cutoff = peak_cutoff(maps_, picking_, grid_);
    manifest_.best_z = result.best_z;
    // An old manifest must not vouch for a mixture of old and new files.
    fs::remove(outputs_.manifest);
    write_maps(maps_, config.results, config.optics.pixel_size);
    write_text_atomically(outputs_.csv,
                          peaks_csv(peaks, config, maps_.total_correlations, template_size_));
    manifest_.pictures =
        write_pictures(outputs_.beginning, micrograph_, maps_, peaks,
                       {.micrograph_name = fs::path(config.micrograph_path).filename().string(),
                        .pixel_size = config.optics.pixel_size,
                        .template_size = template_size_,
                        .particle_radius = config.peaks.particle_radius,
                        .cutoff = manifest_.cutoff,
                        .metric = picking_.metric});
    manifest_.notes.insert(manifest_.notes.begin(), config.notes.begin(), config.notes.end());
    manifest_.timings.write = seconds_since(start);
    manifest_.timings.finished = now_text();
    write_manifest(manifest_);
    // Only now is nothing lost by forgetting where the search stood.
    forget_checkpoint();
    result.progress.state = "done";
    reporter_->finish(result.progress);
    return peaks;
  }

  // The results are whole: a file that stays is no failure.
  void forget_checkpoint() const {
    if (options_.checkpoint.empty()) return;
    std::error_code error;
    fs::remove(options_.checkpoint, error);
    if (error) {
      say("note: checkpoint '" + options_.checkpoint +
          "' could not be removed: " + error.message());
    }
  }

  const MatchOptions& options_;
  const PeakOptions picking_;
  const Clock::time_point begun_ = Clock::now();
  OutputPaths outputs_;
  Manifest manifest_;
  std::mutex notes_mutex_;  // of its notes, while the leader lives
  DevicePlan device_;
  std::optional<DevicePlan> exact_device_;  // for measuring the precision of the other
  std::optional<SearchGrid> grid_;          // nullopt: the micrograph's own
  DeviceOptions sample_device_;             // for measuring the error of the grid
  int template_size_ = 0;
  Image micrograph_;
  Volume volume_;
  Maps maps_;
  std::optional<ProgressReporter> reporter_;
};

}  // namespace

std::optional<FinishedSearch> run_match(SearchConfig config, const MatchOptions& options,
                                        const std::atomic<bool>& stop) {
  return Match(std::move(config), options).run(stop);
}

}  // namespace engine
