#include "slurm/job/job_page.h"

namespace slurm {
namespace {

base::PageOption attempt() {
  return {.names = {"--attempt"},
          .value = "FOLDER",
          .help = "The attempt's folder; the item's is the one above it",
          .required = true};
}

base::PageOption command() {
  return {.names = {"COMMAND"},
          .help = "Behind --: the command, with its arguments",
          .required = true,
          .several = true};
}

base::PageCommand run_page() {
  return {
      .name = "run",
      .description =
          "Run the search of an attempt: claim its folder, probe the device, pass on "
          "requests to stop, resume from a checkpoint. Ends with the code of the "
          "first rank that failed",
      .options = {
          attempt(),
          {.names = {"--number"}, .value = "N", .help = "Number of the attempt", .required = true},
          {.names = {"--probe"},
           .help = "Search something with a known answer first, to probe the device"},
          {.names = {"--resume"}, .value = "FILE", .help = "Checkpoint of an earlier attempt"},
          {.names = {"--batch"},
           .value = "N",
           .help = "Batch size; without it, the engine's choice"},
          command()}};
}

base::PageCommand rank_page() {
  return {.name = "rank",
          .description = "Run one rank of the engine, or N, and record how and where it failed",
          .options = {attempt(),
                      {.names = {"--per-task"},
                       .value = "N",
                       .help = "Ranks that this process starts",
                       .standard = "1"},
                      command()}};
}

base::PageCommand local_page() {
  return {.name = "local",
          .description = "Run one job of the local cluster; margayd starts it",
          .options = {{.names = {"FOLDER"}, .help = "The job's folder", .required = true}}};
}

}  // namespace

base::PageCommand job_page() {
  return {.name = "margay-job",
          .description =
              "Run what a job does besides the search\nThe job scripts that margayd "
              "renders call it; nobody else needs to.",
          .options = {{.names = {"-h", "--help"}, .help = "Print a short help and exit"},
                      {.names = {"--version"}, .help = "Print the version and exit"}},
          .commands = {run_page(), rank_page(), local_page()}};
}

}  // namespace slurm
