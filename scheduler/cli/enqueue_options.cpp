#include "scheduler/cli/enqueue_options.h"

#include "scheduler/cli/sbatch_options.h"
#include "scheduler/cli/terminal/arguments.h"

namespace scheduler::cli {

void add_enqueue_options(CLI::App& command, EnqueueOptions& options) {
  add_option(command, "--template", options.search_template, "NAME",
             "Template to search for: NAME or NAME@VERSION")
      ->required();
  add_option(command, "--priority", options.priority, "PRIORITY",
             "Priority: low, normal, high or urgent", one_of({"low", "normal", "high", "urgent"}))
      ->capture_default_str();
  command.add_flag("--again", options.again, "Enqueue again even if already queued");
  command.add_flag("--hold", options.hold, "Enqueue as held; 'margay release' starts them");
  command.add_flag("--dry-run", options.dry_run, "Check everything and enqueue nothing");
  add_option(command, "--label", options.label, "TEXT", "Label for filtering");
  add_option(command, "--group", options.group, "NAME",
             "Unix group whose share the searches use [default: your primary one]");
  add_sbatch_options(command, options.options);
}

void add_ctf_options(CLI::App& command, CtfOptions& ctf) {
  add_option(command, "--ctf", ctf.pattern, "PATTERN",
             "CTFFIND text file of each micrograph; {dir}, {stem} and {name} stand for "
             "its folder, its name without and with extension");
  add_option(command, "--defocus-u", ctf.defocus_u, "A",
             "Defocus along the first axis in A, underfocus positive", real_number());
  add_option(command, "--defocus-v", ctf.defocus_v, "A", "Defocus along the second axis in A",
             real_number());
  add_option(command, "--astigmatism-angle", ctf.astigmatism_angle, "DEG",
             "Angle of defocus u from the x axis in degrees", real_number());
  add_option(command, "--phase-shift", ctf.phase_shift, "DEG",
             "Phase shift in degrees [default: 0]", real_number());
  command.add_flag("--same-ctf", ctf.same, "Use one CTF for several files");
}

}  // namespace scheduler::cli
