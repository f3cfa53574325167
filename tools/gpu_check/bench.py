"""How fast the device is, and where the two kernels that matter spend their time."""
import csv
import json
import os
import re

from gpu_check.check import Step, failed, missing, passed, print_tail, say
from gpu_check.libraries import find_tool

CASES = (("4096x4096", "512"), ("4096x4096", "384"), ("5760x4092", "512"), ("5760x4092", "384"))
SIDES = ("cufft:fp32", "fused:fp32", "fused:fp16")
# What a plan may choose or not: the order of the blocks that correlate columns, their kernel, and
# that of the last rows.
KERNEL_SIDES = tuple("fused:%s%s" % (precision, words)
                     for precision in ("fp32", "fp16")
                     for words in ("", ":chunks-first", ":in-two", ":rows-ahead", ":rows-in-turn"))
ENOUGH_FOR_A_CASE = 60  # seconds
# What ncu looks for: the plan chooses one of the two kernels of columns.
KERNELS = {"correlate_columns": "^correlate_columns(_in_two)?$", "finish_rows": "^finish_rows$"}
PROFILED_ASIDE = (("fused:fp32:in-two", "correlate_columns"),
                  ("fused:fp32:rows-ahead", "finish_rows"))
SECTIONS = ("SpeedOfLight", "MemoryWorkloadAnalysis", "MemoryWorkloadAnalysis_Tables",
            "SchedulerStats", "WarpStateStats", "LaunchStats", "Occupancy")
METRICS = ("gpu__time_duration.sum,dram__bytes_read.sum,dram__bytes_write.sum,"
           "lts__t_sector_hit_rate.pct,smsp__inst_executed.sum")
# Metrics that are kept as figures; the log has all.
KEPT = re.compile(r"^(gpu__|dram__|lts__|l1tex__|sm__|smsp__|launch__|derived__)")
# Of them, parts that say little beside their sums; and a metric that is 0 is left out.
ASIDE = re.compile(r"\.(max|min)\b|lookup|srcunit|aperture|dshared|surface|texture")
# `selected` and `not_selected` are no stalls.
STALL = re.compile(r"issue_stalled_(?!(?:not_)?selected)(\w+?)(_per_\w+)?\.")
NO_SUCH_METRIC = re.compile(r"(?i)\b(?:fail\w*|unable|cannot|could not)\b.*\bmetrics?\b")


def _json_of(path):
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError):
        return None


def _measure(check, case, rounds, limit, sides):
    report = os.path.join(check.scratch, "bench.json")
    if os.path.exists(report):
        os.remove(report)
    command = [check.program("gpu_bench"), "--case", *case, "--rounds", str(rounds),
               "--json", report]
    for side in sides:
        command += ["--side", side]
    outcome, finished = check.expect(command, 0, "CC/s", limit=limit)
    if outcome.passed:
        say(finished.text.rstrip("\n"))
    return outcome._replace(figures=_json_of(report))


def _each_side_alone(case, rounds, sides):
    """In a process each: a side that faults or hangs leaves the others their figures."""
    def run(check):
        outcomes = {}
        for done, side in enumerate(sides):
            limit = check.left_of_step() / (len(sides) - done)
            outcomes[side] = _measure(check, case, rounds, limit, [side])
        figures = {side: outcome.figures for side, outcome in outcomes.items() if outcome.figures}
        reason = "; ".join("%s: %s" % (side, outcome.reason)
                           for side, outcome in outcomes.items() if not outcome.passed)
        if not reason:
            return passed(figures)
        end = failed if any(outcome.failed for outcome in outcomes.values()) else missing
        return end(reason, figures)
    return run


def _case(case, rounds, sides=()):
    """The sides in turn, those of gpu_bench by itself where none are named; each alone where they
    give no figures together."""
    def run(check):
        limit = max(check.left_of_step() / 2, ENOUGH_FOR_A_CASE)
        together = _measure(check, case, rounds, limit, sides)
        if together.figures:
            return together
        alone = _each_side_alone(case, rounds, sides or SIDES)(check)
        reason = "; ".join(filter(None, [together.reason or "no figures", alone.reason]))
        return (failed if together.failed or alone.failed else missing)(
            "together: " + reason, alone.figures)
    return run


def _number(text):
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return None


def launches_of(table):
    """From ncu's `--csv --page raw`: for each launch its kernel, and its metrics in base units."""
    rows = list(csv.reader(line for line in table.splitlines() if line.startswith('"')))
    if len(rows) < 3:
        return []
    names = rows[0]
    launches = []
    for row in rows[2:]:  # rows[1] has the units
        values = dict(zip(names, row))
        metrics = {name: _number(value) for name, value in values.items()
                   if KEPT.match(name) and not ASIDE.search(name) and _number(value)}
        launches.append({"kernel": values.get("Kernel Name", ""),
                         "grid": values.get("Grid Size", ""), "block": values.get("Block Size", ""),
                         "metrics": metrics})
    return launches


def _line_of(launch):
    metrics = launch["metrics"]
    stalls = sorted(((value, STALL.search(name).group(1)) for name, value in metrics.items()
                     if STALL.search(name)), reverse=True)
    known = [("%.1f us", "gpu__time_duration.sum", 1e-3),
             ("DRAM read %.1f MB", "dram__bytes_read.sum", 1e-6),
             ("written %.1f MB", "dram__bytes_write.sum", 1e-6),
             ("L2 hits %.1f %%", "lts__t_sector_hit_rate.pct", 1),
             ("issue %.2f per cycle", "smsp__issue_active.avg.per_cycle_active", 1),
             ("%.0f registers", "launch__registers_per_thread", 1),
             ("carve-out %.0f KiB", "launch__shared_mem_config_size", 2.0 ** -10)]
    words = [text % (metrics[name] * scale) for text, name, scale in known if name in metrics]
    words.append("stalls " + ", ".join("%s %.2f" % (name, value) for value, name in stalls[:5]))
    return "   %s: %s" % (launch["kernel"][:40], ", ".join(words))


def _why_none(finished, table):
    text = table + finished.text
    if "ERR_NVGPUCTRPERM" in text:
        return missing("this user may not read the device's counters (ERR_NVGPUCTRPERM): the "
                       "driver allows it to root alone")
    error = re.search(r"==ERROR== (.*)", text)
    print_tail(text)
    return missing("ncu has no figures (status %d): %s" %
                   (finished.status, error.group(1) if error else "no kernel was profiled"))


def _profile(side, kernel):
    def run(check):
        ncu = find_tool("ncu")
        if not ncu:
            return missing("ncu (Nsight Compute) is neither in PATH nor in a CUDA toolkit")
        path = os.path.join(check.scratch, "profile.csv")
        # The device's clocks stay as they are. gpu_bench switches profiling on before its rounds.
        command = [ncu, "--csv", "--page", "raw", "--print-units", "base", "--log-file", path,
                   "--clock-control", "none", "--cache-control", "none",
                   "--profile-from-start", "off", "--kernel-name-base", "function",
                   "--kernel-name", "regex:" + KERNELS[kernel], "--launch-count", "2"]
        for section in SECTIONS:
            command += ["--section", section]
        # Not every device has each of these metrics.
        for metrics in (["--metrics", METRICS], []):
            open(path, "w", encoding="utf-8").close()
            # Another user's lock file in /tmp would stop ncu.
            finished = check.run(
                command + metrics + [check.program("gpu_bench"), "--side", side, "--rounds", "1",
                                     "--case", *CASES[0]], {"TMPDIR": check.scratch})
            with open(path, encoding="utf-8", errors="replace") as file:
                table = file.read()
            check.record.log.write(table)
            launches = launches_of(table)
            if launches or not NO_SUCH_METRIC.search(table + finished.text):
                break
        for launch in launches:
            say(_line_of(launch))
        if finished.stopped:
            return check.stopped(finished, launches or None)
        if not launches:
            return _why_none(finished, table)
        if finished.status != 0:
            return failed("status %d" % finished.status, launches)
        return passed(launches)
    return run


def first_steps():
    return [Step("benchmark %s %s, 3 rounds" % CASES[0], 25, 120, _each_side_alone(CASES[0], 3, SIDES))]


def profile_steps():
    return [Step("profile %s %s" % (side, kernel), 20, 90, _profile(side, kernel))
            for side, kernel in [(side, kernel) for side in ("fused:fp32", "fused:fp16")
                                 for kernel in KERNELS] + list(PROFILED_ASIDE)]


def all_steps():
    kernels = Step("kernels %s %s" % CASES[0], 40, 150, _case(CASES[0], 3, KERNEL_SIDES))
    return [kernels] + [Step("benchmark %s %s" % case, 30, 150, _case(case, 7)) for case in CASES]
