// margay-engine: options, then calls.
#include <CLI/CLI.hpp>
#include <exception>
#include <iostream>
#include <new>
#include <sstream>
#include <string>
#include <vector>

#include "engine/commands/commands.h"
#include "engine/error.h"
#include "engine/io/duration.h"
#include "engine/launch/stop_signals.h"

namespace engine {

void tell(const std::string& sentence) {
  std::cerr << "margay-engine: " + sentence + "\n" << std::flush;
}

namespace {

// Every subcommand's options, filled by the parser.
struct Options {
  MatchCommand match;
  PeaksCommand peaks;
  PlanCommand plan;
  ProjectCommand project;
  SimulateCommand simulate;
  SelftestCommand selftest;
  ScaleCommand scale;
  InfoCommand info;
};

// The help shows the kind of value; the range is told when it is left. A NaN is in no range.
template <typename T>
CLI::Validator range(T smallest, T largest) {
  const auto check = [=](const std::string& text) -> std::string {
    T value{};
    if (CLI::detail::lexical_cast(text, value) && value >= smallest && value <= largest) return "";
    std::ostringstream problem;
    problem << '\'' << text << "' is no number from " << smallest << " to " << largest;
    return problem.str();
  };
  return CLI::Validator(check, "");
}

CLI::Validator one_of(const std::vector<std::string>& names) {
  return CLI::IsMember(names).description("");
}

CLI::App& add_command(CLI::App& app, const std::string& name, const std::string& description,
                      const std::string& footer) {
  CLI::App& command = *app.add_subcommand(name, description);
  command.footer(footer);
  return command;
}

void add_config(CLI::App& command, std::string& config, const std::string& description) {
  command.add_option("CONFIG", config, description)->required()->type_name("FILE");
}

CLI::Option& add_file(CLI::App& command, const std::string& name, std::string& path,
                      const std::string& description) {
  return *command.add_option(name, path, description)->type_name("FILE");
}

void add_number(CLI::App& command, const std::string& name, double& value, double smallest,
                double largest, const std::string& description) {
  command.add_option(name, value, description)
      ->check(range(smallest, largest))
      ->type_name("NUMBER")
      ->capture_default_str();
}

void add_device_options(CLI::App& command, DeviceOptions& device) {
  command
      .add_option("--backend", device.backend,
                  "auto, cuda or cpu; auto takes the CPU only where there is no NVIDIA device")
      ->check(one_of({"auto", "cuda", "cpu"}))
      ->type_name("NAME")
      ->capture_default_str();
  command
      .add_option(
          "--fft", device.fft,
          "Transforms on a CUDA device: cufft, for every size; fused, our own, for templates "
          "that fit them; auto chooses (fused for halves)")
      ->check(one_of({"auto", "cufft", "fused"}))
      ->type_name("NAME")
      ->capture_default_str();
  command
      .add_option(
          "--precision", device.precision,
          "fp32; on a CUDA device also fp16-storage (halves in memory, arithmetic in single "
          "precision) or fp16 (arithmetic on halves): their error is measured and told")
      ->check(one_of({"fp32", "fp16-storage", "fp16"}))
      ->type_name("NAME")
      ->capture_default_str();
  command.add_option("--threads", device.threads, "Threads of the CPU (0: every core)")
      ->check(range(0, 4096))
      ->type_name("N")
      ->capture_default_str();
  command.add_option("--batch", device.batch, "Units of work in flight (0: chosen)")
      ->check(range(0, 1 << 20))
      ->type_name("N")
      ->capture_default_str();
}

void add_mismatch_flag(CLI::App& command, bool& flag) {
  command.add_flag("--allow-pixel-size-mismatch", flag,
                   "Take the configuration's pixel size where a header contradicts it");
}

void add_peak_options(CLI::App& command, PeakOptions& peaks) {
  command
      .add_option_function<std::string>(
          "--metric",
          [&peaks](const std::string& name) {
            peaks.metric = name == "mip" ? PeakMetric::kMip : PeakMetric::kScaledMip;
          },
          "scaled-mip, or mip for templates of high symmetry (default: scaled-mip)")
      ->check(one_of({"scaled-mip", "mip"}))
      ->type_name("NAME");
  add_number(command, "--false-positives", peaks.false_positives, 1e-12, 1e6,
             "False peaks expected in a micrograph of noise");
}

void add_rank_options(CLI::App& command, MatchCommand& match) {
  CLI::Option_group& group =
      *command.add_option_group("Several ranks",
                                "One search by several processes, one device each. torchrun, srun "
                                "and mpirun say who is who.");
  RankGroupOptions& rank_group = match.options.rank_group;
  group.add_option("--nproc", match.nproc, "Start this many ranks on this machine")
      ->check(range(1, 4096))
      ->type_name("N");
  group.add_option("--rank", match.rank.rank, "Number of this rank, from 0")->type_name("N");
  group.add_option("--world-size", match.rank.world_size, "How many ranks there are")
      ->type_name("N");
  group
      .add_option("--local-rank", match.rank.local_rank,
                  "Number of this rank among those on this host: its device")
      ->type_name("N");
  group
      .add_option("--rendezvous", match.rank.rendezvous,
                  "Where ranks meet: HOST:PORT of rank 0, or file:PATH that all of them can see")
      ->type_name("PLACE");
  group
      .add_option("--run-id", match.rank.run_id,
                  "The same for all ranks of this run, and for no other run")
      ->type_name("NAME");
  group
      .add_option_function<std::string>(
          "--rank-timeout",
          [&rank_group](const std::string& text) {
            rank_group.timeout = parse_duration(text, "--rank-timeout");
          },
          "A rank that is silent for so long is lost (default: 60s)")
      ->type_name("TIME");
  group
      .add_option_function<std::string>(
          "--on-rank-loss",
          [&rank_group](const std::string& what) {
            rank_group.continue_on_rank_loss = what == "continue";
          },
          "abort: the search ends, and goes on from its checkpoint another time; continue: the "
          "other ranks take over the work of the lost one (default: abort)")
      ->check(one_of({"abort", "continue"}))
      ->type_name("WHAT");
  group
      .add_option("--collectives", rank_group.collectives,
                  "By which ranks exchange data: auto, gloo or nccl")
      ->check(one_of({"auto", "gloo", "nccl"}))
      ->type_name("NAME")
      ->capture_default_str();
  group
      .add_option("--chunk", rank_group.chunk, "Units of work that a rank gets at once (0: chosen)")
      ->check(range(0, 1 << 30))
      ->type_name("N")
      ->capture_default_str();
}

void add_match(CLI::App& app, MatchCommand& match) {
  CLI::App& command = add_command(
      app, "match", "Search one micrograph for one template",
      "SIGTERM, SIGUSR1 and Ctrl-C finish the batch, write the checkpoint and end with status "
      "85.\nExample:\n  margay-engine match search.yaml --output results/peaks.csv --threads 8");
  MatchOptions& options = match.options;
  add_config(command, match.config, "Configuration for Leopard-EM's match_template");
  add_file(command, "--output", options.output,
           "Peak list DIR/NAME.csv; manifest, progress and pictures go into DIR (default: beside "
           "scaled_mip_path)");
  add_device_options(command, options.device);
  add_file(command, "--checkpoint", options.checkpoint,
           "Where the work done so far is kept; removed when the search is done (default: "
           "nowhere)");
  command
      .add_option_function<std::string>(
          "--checkpoint-every",
          [&options](const std::string& text) {
            options.checkpoint_every = parse_duration(text, "--checkpoint-every");
          },
          "How often it is written: 500ms, 90s, 10m, 2h (default: 10m)")
      ->type_name("TIME");
  add_file(command, "--resume", options.resume, "Go on from this checkpoint");
  add_file(command, "--progress", options.progress,
           "Progress as JSON (default: progress.json beside the manifest)");
  command.add_flag("--overwrite", options.overwrite, "Replace the results of a finished search");
  add_mismatch_flag(command, options.allow_pixel_size_mismatch);
  command.add_option("--attempt", options.attempt, "A name for this run, kept in the manifest")
      ->type_name("NAME");
  add_peak_options(command, options.peaks);
  add_rank_options(command, match);
}

void add_peaks(CLI::App& app, PeaksCommand& peaks) {
  CLI::App& command = add_command(
      app, "peaks", "Pick peaks again from finished maps",
      "Example:\n  margay-engine peaks search.yaml --false-positives 0.1 --output strict.csv");
  add_config(command, peaks.config, "Configuration that the maps were made with");
  add_file(command, "--output", peaks.output, "Peak list to write (default: stdout)");
  command.add_flag("--overwrite", peaks.overwrite, "Replace the peak list");
  add_peak_options(command, peaks.peaks);
  command
      .add_option_function<double>(
          "--cutoff", [&peaks](double value) { peaks.peaks.cutoff = value; },
          "Cut-off instead of one from --false-positives")
      ->check(range(-1e6, 1e6))
      ->type_name("NUMBER");
  add_number(command, "--mask-radius", peaks.peaks.mask_radius, 0, 1e6,
             "Pixels around a peak in which no other is picked");
}

void add_plan(CLI::App& app, PlanCommand& plan) {
  CLI::App& command =
      add_command(app, "plan", "Counts, memory and time of a search; nothing is run",
                  "Example:\n  margay-engine plan search.yaml --threads 8");
  add_config(command, plan.config, "Configuration of the search");
  add_device_options(command, plan.device);
  command
      .add_option("--nproc", plan.nproc,
                  "For a search by so many ranks on this machine (default: as match starts them)")
      ->check(range(1, 4096))
      ->type_name("N");
  add_mismatch_flag(command, plan.allow_pixel_size_mismatch);
  command.add_flag("--json", plan.json, "As JSON");
}

void add_project(CLI::App& app, ProjectCommand& project) {
  CLI::App& command = add_command(
      app, "project", "One projection of a template, as the search sees it (density dark)",
      "Example:\n  margay-engine project template.mrc --phi 30 --theta 40 --psi 50 --output "
      "view.mrc");
  add_file(command, "TEMPLATE", project.volume, "Template, an MRC volume").required();
  add_file(command, "--output", project.output, "MRC image to write").required();
  const double turns = 36000.0;
  add_number(command, "--phi", project.phi, -turns, turns, "Degrees, ZYZ");
  add_number(command, "--theta", project.theta, -turns, turns, "Degrees");
  add_number(command, "--psi", project.psi, -turns, turns, "Degrees");
  add_file(command, "--config", project.config,
           "Apply the contrast transfer function of this configuration (default: none)");
  add_number(command, "--defocus", project.relative_defocus, -1e6, 1e6,
             "A, relative to the defocus of --config");
  command.add_flag("--overwrite", project.overwrite, "Replace a file that is there");
}

void add_optics(CLI::App& command, OpticsGroup& optics) {
  add_number(command, "--pixel-size", optics.pixel_size, 0, 100,
             "A (0: as the template's header says)");
  add_number(command, "--voltage", optics.voltage, 1, 10000, "kV");
  add_number(command, "--spherical-aberration", optics.spherical_aberration, 0, 100, "mm");
  add_number(command, "--amplitude-contrast", optics.amplitude_contrast_ratio, 0, 1,
             "Amplitude contrast ratio");
  add_number(command, "--defocus-u", optics.defocus_u, -1e6, 1e6, "A, underfocus positive");
  add_number(command, "--defocus-v", optics.defocus_v, -1e6, 1e6, "A");
  add_number(command, "--astigmatism-angle", optics.astigmatism_angle, -3600, 3600,
             "Degrees, of defocus u");
  for (const char* name :
       {"--pixel-size", "--voltage", "--spherical-aberration", "--amplitude-contrast",
        "--defocus-u", "--defocus-v", "--astigmatism-angle"}) {
    command.get_option(name)->excludes("--config");  // which says it already
  }
}

void add_simulate(CLI::App& app, SimulateCommand& simulate) {
  CLI::App& command = add_command(
      app, "simulate", "A micrograph with known particles, and the list of them",
      "Example:\n  margay-engine simulate --template ribosome.mrc --defocus-u 10200 --defocus-v "
      "9800 --size 1024 --count 10 --output made.mrc");
  simulate.optics.voltage = 300;
  simulate.optics.defocus_u = simulate.optics.defocus_v = 10000;
  SimulationOptions& made = simulate.simulation;
  add_file(command, "--template", simulate.volume, "Template, an MRC volume");
  add_file(command, "--config", simulate.config,
           "Take optics, defocus planes and template from this configuration");
  add_file(command, "--output", simulate.output, "Micrograph to write").required();
  add_file(command, "--truth", simulate.truth,
           "List of the particles to write (default: NAME_truth.csv beside NAME.mrc)");
  add_file(command, "--particles", simulate.particles,
           "Plant the particles of this list (x_px, y_px, phi_deg, theta_deg, psi_deg, "
           "defocus_offset_A) instead of drawing them");
  command
      .add_option_function<int>(
          "--size", [&made](int size) { made.height = made.width = size; },
          "Pixels along both sides (default: 512)")
      ->check(range(2, 100000))
      ->type_name("N");
  command.add_option("--count", made.particles, "Particles to draw")
      ->check(range(0, 1000000))
      ->type_name("N")
      ->capture_default_str();
  command.add_option("--seed", made.seed, "Of the random numbers")
      ->type_name("N")
      ->capture_default_str();
  add_number(command, "--z", made.z, 0, 1e4, "Signal: z of a matched filter at the true pose");
  add_optics(command, simulate.optics);
  command.add_flag("--overwrite", simulate.overwrite, "Replace files that are there");
}

void add_selftest(CLI::App& app, SelftestCommand& selftest) {
  CLI::App& command =
      add_command(app, "selftest", "A search with a known answer on this machine: pass or fail",
                  "Ends with status 70 when a planted particle is not found.\nExample:\n  "
                  "margay-engine selftest --backend cpu");
  command.add_option("--data", selftest.data, "Folder of the known answers (default: its own)")
      ->type_name("FOLDER");
  add_device_options(command, selftest.device);
}

void add_scale(CLI::App& app, ScaleCommand& scale) {
  CLI::App& command = add_command(
      app, "scale",
      "What more ranks gain, here or on an allocation's nodes: a table of measured speed-ups",
      "Runs the search in a scratch folder (TMPDIR) by 1, 2, 4, ... N ranks, by all of 1 to N up "
      "to 4. Every rank has as many threads: --threads, else the cores shared out among N.\n"
      "In a batch script of Slurm or by salloc, on several nodes, every number of ranks is a step "
      "that fills one node after the other; the scratch folder is then in the working folder, "
      "which all nodes have to see.\n"
      "Example:\n  margay-engine scale --nproc 4 --output speed_up.csv");
  command
      .add_option("CONFIG", scale.config,
                  "Configuration of the search to run (default: a small one of its own)")
      ->type_name("FILE");
  command
      .add_option("--nproc", scale.nproc,
                  "The most ranks (default: one for each NVIDIA device, else for each core; in an "
                  "allocation for each of its GPUs, else of its tasks)")
      ->check(range(1, 4096))
      ->type_name("N");
  add_device_options(command, scale.device);
  add_mismatch_flag(command, scale.allow_pixel_size_mismatch);
  command.add_flag("--json", scale.json, "As JSON, with the correlations of every rank");
  add_file(command, "--output", scale.output, "Write the table as CSV, too");
  command.add_flag("--overwrite", scale.overwrite, "Replace that table");
}

void add_info(CLI::App& app, InfoCommand& info) {
  CLI::App& command =
      add_command(app, "info", "This build and this machine, or the headers of MRC files",
                  "Example:\n  margay-engine info micrograph.mrc template.mrc --json");
  command.add_option("FILES", info.files, "MRC files (none: this build and this machine)")
      ->type_name("");
  command.add_flag("--json", info.json, "As JSON");
}

ExitCode run(const CLI::App& app, const Options& options) {
  const std::string name = app.get_subcommands().front()->get_name();
  if (name == "match") {
    const StopSignals signals;
    return match_command(options.match, signals.requested());
  }
  if (name == "peaks") return peaks_command(options.peaks);
  if (name == "plan") return plan_command(options.plan);
  if (name == "project") return project_command(options.project);
  if (name == "simulate") return simulate_command(options.simulate);
  if (name == "selftest") return selftest_command(options.selftest);
  if (name == "scale") {
    const StopSignals signals;
    return scale_command(options.scale, signals.requested());
  }
  return info_command(options.info);
}

int parse_and_run(int argc, char** argv) {
  CLI::App app("2D template matching of one cryo-EM micrograph with one template.",
               "margay-engine");
  app.set_version_flag("--version", std::string("margay-engine ") + MARGAY_VERSION);
  app.require_subcommand(1);
  app.footer("Each subcommand explains itself: margay-engine match --help");
  Options options;
  options.match.arguments.assign(argv, argv + argc);
  add_match(app, options.match);
  add_peaks(app, options.peaks);
  add_plan(app, options.plan);
  add_project(app, options.project);
  add_simulate(app, options.simulate);
  add_selftest(app, options.selftest);
  add_scale(app, options.scale);
  add_info(app, options.info);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // Help and version are "errors" of status 0 that print themselves.
    if (error.get_exit_code() == 0) return app.exit(error);
    throw UsageError(std::string(error.what()) + " (see --help)");
  }
  return static_cast<int>(run(app, options));
}

}  // namespace
}  // namespace engine

int main(int argc, char** argv) {
  using engine::ExitCode;
  ExitCode code = ExitCode::kDeviceFault;
  try {
    return engine::parse_and_run(argc, argv);
  } catch (const engine::Error& error) {
    engine::tell(error.what());
    code = error.code();
  } catch (const std::bad_alloc&) {
    engine::tell("out of memory; give a smaller --batch or fewer --threads");
    code = ExitCode::kDeviceMemory;
  } catch (const std::exception& error) {
    engine::tell(std::string("unexpected failure, please report it: ") + error.what());
  }
  return static_cast<int>(code);
}
