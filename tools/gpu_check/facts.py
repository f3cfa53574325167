"""What the machine is: its device, its driver, its libraries."""
import csv
import json
import os
import re
import subprocess

from gpu_check import libraries
from gpu_check.check import Step, failed, missing, not_here, passed, say

QUERY = ("name,driver_version,memory.total,memory.used,clocks.sm,clocks.max.sm,clocks.mem,"
         "clocks.max.mem,temperature.gpu,power.draw,power.limit,compute_mode")
# By the toolkit's major version, as in tools/gpu-package.
OLDEST_DRIVER = {"12": 525, "13": 580}


def device_and_driver():
    """Names for the results' file, before any step; None where nvidia-smi does not say."""
    try:
        process = subprocess.Popen(
            ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            universal_newlines=True)
        printed, _ = process.communicate(timeout=15)
    except OSError:
        return None, None
    except subprocess.TimeoutExpired:
        process.kill()  # and not waited for: with a broken driver it may not die
        return None, None
    if process.returncode != 0:
        return None, None
    words = [word.strip() for word in printed.splitlines()[0].split(",")] if printed else []
    return (words + [None, None])[0], (words + [None, None])[1]


def _visible(devices):
    """How many of `devices` CUDA_VISIBLE_DEVICES leaves: it ends at the first that is none."""
    words = os.environ.get("CUDA_VISIBLE_DEVICES")
    if words is None:
        return devices
    names = [word.strip() for word in words.split(",")] + ["-1"]
    return min(devices, next(at for at, name in enumerate(names) if name in ("", "-1")))


def _devices(check):
    finished = check.run(["nvidia-smi", "--query-gpu=" + QUERY, "--format=csv"])
    if finished.status == 127:
        return missing("nvidia-smi is not in PATH")
    if finished.stopped:
        return check.stopped(finished)
    rows = list(csv.reader(finished.text.splitlines(), skipinitialspace=True))
    if finished.status != 0 or len(rows) < 2:
        return failed("nvidia-smi: status %d: %s" % (finished.status, finished.text.strip()[-300:]))
    devices = [dict(zip(rows[0], row)) for row in rows[1:]]
    check.devices = _visible(len(devices))
    for device in devices:
        say("   " + ", ".join("%s %s" % fact for fact in device.items()))
    return passed(devices)


def _nvcc(check):
    nvcc = libraries.find_tool("nvcc")
    if not nvcc:
        return not_here("no nvcc; only --rebuild needs it")
    outcome, finished = check.expect([nvcc, "--version"], 0, "release")
    release = re.search(r"release ([0-9.]+)", finished.text)
    check.toolkit = release.group(1) if release else ""
    return outcome._replace(figures={"path": nvcc, "release": check.toolkit})


def _wanted_driver(programs, toolkit):
    """The oldest that runs the programs' code: that of this machine's nvcc, where it compiles it."""
    if programs.compiled_here() and toolkit:
        return OLDEST_DRIVER.get(toolkit.split(".")[0])
    packed = re.search(r"driver ([0-9]+)", programs.packed_from())
    return int(packed.group(1)) if packed else None


def _driver(programs, driver):
    def run(check):
        wanted = _wanted_driver(programs, check.toolkit)
        if not wanted or not driver:
            return not_here("the driver's version is not known" if not driver else
                            "what driver the programs want is not known")
        if int(driver.split(".")[0]) < wanted:
            # Libraries for compatibility may do without: the device's properties decide.
            return not_here("the programs want driver %d or newer, and here is %s: if they fail, "
                            "make build/gpu with an older CUDA toolkit" % (wanted, driver))
        return passed({"driver": driver, "wanted": wanted})
    return run


def _engine(check):
    outcome, finished = check.expect([check.program("margay-engine"), "info"], 0, ".")
    check.info = finished.text if outcome.passed else ""
    say(check.info.rstrip("\n"))
    return outcome


def _properties(check):
    report = os.path.join(check.scratch, "facts.json")
    outcome, finished = check.expect(
        [check.program("gpu_bench"), "--facts", "--json", report], 0, "L2")
    if not outcome.passed:
        return outcome
    say(finished.text.rstrip("\n"))
    with open(report, encoding="utf-8") as file:
        return outcome._replace(figures=json.load(file))


def steps_of_machine(programs, driver):
    return [
        Step("the device", 2, 20, _devices),
        Step("nvcc", 1, 20, _nvcc),
        Step("the driver", 0, 20, _driver(programs, driver)),
    ]


def steps_of_programs():
    return [
        Step("cuFFT", 1, 60, libraries.take_cufft),
        Step("NCCL", 1, 60, libraries.take_nccl),
        Step("the program", 3, 30, _engine),
        Step("the device's properties", 5, 60, _properties),
    ]
