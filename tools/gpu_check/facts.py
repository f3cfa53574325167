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


def device_and_driver():
    """Names for the results' file, before any step; None where nvidia-smi does not say."""
    try:
        printed = subprocess.run(
            ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            timeout=15, check=True, universal_newlines=True).stdout
    except (OSError, subprocess.CalledProcessError, subprocess.TimeoutExpired):
        return None, None
    words = [word.strip() for word in printed.splitlines()[0].split(",")] if printed else []
    return (words + [None, None])[0], (words + [None, None])[1]


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
    check.devices = len(devices)
    for device in devices:
        say("   " + ", ".join("%s %s" % fact for fact in device.items()))
    return passed(devices)


def _driver(wanted, driver):
    def run(_):
        if not wanted or not driver:
            return not_here("the driver's version is not known" if not driver else
                            "what driver the programs want is not known")
        if int(driver.split(".")[0]) < int(wanted):
            return failed("the programs want driver %s or newer; here is %s: make build/gpu with "
                          "an older CUDA toolkit" % (wanted, driver))
        return passed({"driver": driver, "wanted": wanted})
    return run


def _nvcc(check):
    nvcc = libraries.find_tool("nvcc")
    if not nvcc:
        return not_here("no nvcc; only --rebuild needs it")
    outcome, finished = check.expect([nvcc, "--version"], 0, "release")
    release = re.search(r"release ([0-9.]+)", finished.text)
    return outcome._replace(figures={"path": nvcc, "release": release.group(1) if release else ""})


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


def steps(programs, driver):
    wanted = re.search(r"driver ([0-9]+)", programs.packed_from())
    return [
        Step("the device", 2, 20, _devices),
        Step("the driver", 0, 20, _driver(wanted and wanted.group(1), driver)),
        Step("nvcc", 1, 20, _nvcc),
        Step("cuFFT", 1, 60, libraries.take_cufft),
        Step("NCCL", 1, 60, libraries.take_nccl),
        Step("the program", 3, 30, _engine),
        Step("the device's properties", 5, 60, _properties),
    ]
