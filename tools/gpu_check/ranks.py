"""Two devices or more: ranks against one, and the end of all when one is killed."""
import os
import re
import signal
import time

from gpu_check import commands
from gpu_check.check import Step, failed, not_here, passed, print_tail
from gpu_check.libraries import NCCL, find_library

MOST_RANKS = 4
MAPS = ("mip", "scaled_mip", "psi", "theta", "phi", "defocus", "mean", "sd")
MRC_HEADER = 1024  # bytes, with the date in it
RANK_TIMEOUT = 10  # seconds
TO_WORK = 20       # seconds until all ranks search
TO_END = 60        # seconds until all have ended, after one was killed


def _config(check, name, psi_step):
    """A search of the self-test's crop whose maps go into the scratch folder `name`."""
    results = os.path.join(check.scratch, name)
    os.makedirs(results, exist_ok=True)
    with open(os.path.join(check.data, "lsu_crop.yaml"), encoding="utf-8") as file:
        text = file.read()
    text = re.sub(r"(?m)^( +\w+_path: )(\S+\.mrc)$",
                  lambda found: found.group(1) + os.path.join(results, found.group(2)), text)
    text = re.sub(r"(?m)^(\w+_path: )(\S+\.mrc)$",
                  lambda found: found.group(1) + os.path.join(check.data, found.group(2)), text)
    text = re.sub(r"(?m)^( *gpu_ids:).*", r"\1 all", text)
    if psi_step:
        text = text.replace("psi_step: 24.0", "psi_step: %s" % psi_step)
    path = os.path.join(results, "search.yaml")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return results, path


def _match(check, config, ranks):
    return [check.program("margay-engine"), "match", config, "--backend", "cuda", "--overwrite",
            "--nproc", str(ranks), "--rank-timeout", "%ds" % RANK_TIMEOUT]


def _unable(check):
    if check.devices < 2:
        if check.devices == 1:
            return not_here("one device is visible")
        return not_here("CUDA_VISIBLE_DEVICES leaves no device"
                        if "CUDA_VISIBLE_DEVICES" in os.environ else "nvidia-smi shows no device")
    if not find_library(NCCL):
        return not_here("NCCL was not found, by which ranks on devices exchange their results")
    return None


def _pixels(folder):
    maps = {}
    for name in MAPS:
        with open(os.path.join(folder, name + ".mrc"), "rb") as file:
            file.seek(MRC_HEADER)
            maps[name] = file.read()
    return maps


def _ranks_against_one(check):
    unable = _unable(check)
    if unable:
        return unable
    ranks = min(check.devices, MOST_RANKS)
    found = {}
    for count in (1, ranks):
        results, config = _config(check, "%d-ranks" % count, None)
        outcome, _ = check.expect(_match(check, config, count), 0, "")
        if not outcome.passed:
            return outcome._replace(reason="%d ranks: %s" % (count, outcome.reason))
        found[count] = _pixels(results)
    other = [name for name in MAPS if found[1][name] != found[ranks][name]]
    if other:
        return failed("%d ranks have other maps than one: %s" % (ranks, ", ".join(other)))
    return passed({"ranks": ranks})


def _parent_of(process):
    try:
        with open("/proc/%s/stat" % process, encoding="ascii", errors="replace") as file:
            return int(file.read().rpartition(")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        return 0


def _children_of(parent):
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and
            _parent_of(name) == parent]


def _is_rank_1(process):
    try:
        with open("/proc/%d/cmdline" % process, "rb") as file:
            return b"\0--rank\0001\0" in file.read()
    except OSError:  # it has ended
        return False


def _ranks_1_of(search):
    return [child for child in _children_of(search.pid) if _is_rank_1(child)]


def _wait(check, seconds, condition):
    end = check.clock.now() + min(seconds, max(check.left(), 0))
    while not condition():
        if check.clock.now() > end:
            return False
        time.sleep(commands.PAUSE)
    return True


def _kill_one(check):
    unable = _unable(check)
    if unable:
        return unable
    ranks = min(check.devices, MOST_RANKS)
    results, config = _config(check, "killed", "0.03")
    command = _match(check, config, ranks)
    check.record.log.write("$ %s\n" % " ".join(command))
    offset = check.record.log.size()
    search = check.commands.start(command, check.record.log, check.environment, check.folder)
    try:
        progress = os.path.join(results, "progress.json")
        # A rank that was just started does not have its command line yet.
        _wait(check, TO_WORK, lambda: search.poll() is not None or
              os.path.exists(progress) and _ranks_1_of(search))
        children = _children_of(search.pid)
        victims = _ranks_1_of(search)
        if search.poll() is not None or not os.path.exists(progress) or not victims:
            print_tail(check.record.log.text_from(offset))
            return failed("the search of %d ranks did not begin, or was over too early" % ranks)
        os.kill(victims[0], signal.SIGKILL)
        begun = check.clock.now()
        if not _wait(check, TO_END, lambda: search.poll() is not None):
            return failed("the other ranks had not ended %d s after one was killed" % TO_END)
        seconds = check.clock.now() - begun
        left = [child for child in children if os.path.exists("/proc/%d" % child)]
        if search.returncode == 0 or left:
            return failed("status %d, and %d ranks were left over" % (search.returncode, len(left)))
        return passed({"ranks": ranks, "seconds_to_end": round(seconds, 1),
                       "status": search.returncode})
    finally:
        check.commands.end(search)


def steps():
    return [Step("ranks against one", 30, 120, _ranks_against_one),
            Step("a killed rank ends the others", 40, 100, _kill_one)]
