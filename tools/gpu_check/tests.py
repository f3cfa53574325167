"""The GPU tests, the self-tests, deliberate faults, and compute-sanitizer."""
import os
import re

from gpu_check.check import (Outcome, Step, failed, missing, not_here, passed, print_tail,
                             say)
from gpu_check.libraries import find_tool

KERNELS = "*CudaKernels*:*CudaFused*"
# The rest of gpu_test by groups; the last has whatever is in no other.
GROUPS = (("search tests", "*CudaSearch*:*CudaPrecision*:Gpu.*"),
          ("path tests", "CudaPaths.*"),
          ("reference tests", "*CudaReference*:*CudaPeaks*"))
OTHERS = "-" + ":".join([KERNELS] + [tests for _, tests in GROUPS])

# What a sanitizer prints of a fault that it found, before its summary.
FINDING = re.compile(
    r"(?m)^=+ (?:Invalid|Error: Race|Warning: Race|Barrier error|Uninitialized|Program hit).*")

REQUIRED = {"MARGAY_REQUIRE": "gpu"}


def _count(word, text):
    found = re.search(r"^\[  %s *\] ([0-9]+) test" % word, text, re.MULTILINE)
    return int(found.group(1)) if found else 0


def _failures(text):
    """What the failed tests printed."""
    lines = []
    for part in re.split(r"^(?=\[ RUN)", text, flags=re.MULTILINE)[1:]:
        if re.search(r"^\[  FAILED", part, re.MULTILINE) or "[       OK" not in part:
            lines += part.splitlines()[:12]
    return "\n".join(lines[:60])


def _of_stopped(check, finished):
    """The tests that had ended count."""
    outcome = check.stopped(finished, slow=True)._replace(
        passed=len(re.findall(r"(?m)^\[       OK \]", finished.text)))
    bad = len(re.findall(r"(?m)^\[  FAILED  \] .* ms\)$", finished.text))
    if not bad:
        return outcome
    say(_failures(finished.text))
    return outcome._replace(failed=bad, reason="%d tests failed; %s" % (bad, outcome.reason))


def _of_counts(check, finished):
    good, bad, idle = (_count(word, finished.text) for word in ("PASSED", "FAILED", "SKIPPED"))
    if finished.stopped:
        return _of_stopped(check, finished)
    if finished.status != 0 or good + idle == 0:
        say(_failures(finished.text) or finished.text[-2000:])
        reason = "no test ran" if good + bad + idle == 0 else "%d tests failed" % bad
        return Outcome(good, max(bad, 1), idle, False,
                       "status %d, %s" % (finished.status, reason), None)
    why_skipped = "; ".join(dict.fromkeys(re.findall(r": Skipped\n(.*)", finished.text)))
    return Outcome(good, 0, idle, False, why_skipped, None)


def _tests(tests):
    def run(check):
        return _of_counts(check, check.run(
            [check.program("gpu_test"), "--gtest_color=no", "--gtest_filter=" + tests], REQUIRED))
    return run


def _selftest(fft, precision):
    def run(check):
        if check.info and not re.search(r"\b%s %s\b" % (fft, precision), check.info):
            return not_here("this build has no %s %s" % (fft, precision))
        outcome, _ = check.expect(
            [check.program("margay-engine"), "selftest", "--backend", "cuda", "--fft", fft,
             "--precision", precision], 0, "^passed")
        return outcome
    return run


def _no_device(check):
    return check.expect([check.program("margay-engine"), "selftest", "--backend", "cuda"], 70,
                        "no such NVIDIA device", {"CUDA_VISIBLE_DEVICES": ""})[0]


def _no_device_99(check):
    with open(os.path.join(check.data, "lsu_crop.yaml"), encoding="utf-8") as file:
        text = re.sub(r"(?m)^( *gpu_ids:).*", r"\1 [99]", file.read())
    # Its paths are relative to its own folder.
    config = os.path.join(check.scratch, "device_99.yaml")
    with open(config, "w", encoding="utf-8") as file:
        file.write(re.sub(r"(?m)^(\w+_path: )(\S+\.mrc)$",
                          lambda found: found.group(1) + os.path.join(check.data, found.group(2)),
                          text))
    return check.expect([check.program("margay-engine"), "plan", "--backend", "cuda", config], 70,
                        "device 99")[0]


def _too_large(check):
    return check.expect([check.program("gpu_bench"), "--case", "200000x200000", "1024"], 71,
                        "device memory")[0]


def _sanitizer(tool):
    def run(check):
        sanitizer = find_tool("compute-sanitizer")
        if not sanitizer:
            return missing("compute-sanitizer is neither in PATH nor in a CUDA toolkit")
        finished = check.run(
            [sanitizer, "--tool", tool, "--error-exitcode", "9", "--print-limit", "20",
             check.program("gpu_test"), "--gtest_color=no",
             "--gtest_filter=%s:-*AtRandom*" % KERNELS],
            dict(REQUIRED, MARGAY_SMALL_CASES="1"))
        if finished.stopped:
            found = FINDING.search(finished.text)
            outcome = check.stopped(finished, slow=True)
            return failed("%s; %s" % (found.group(0), outcome.reason)) if found else outcome
        refused = re.search(r".*(Device not supported|not supported on this device).*",
                            finished.text)
        if refused:
            return missing("compute-sanitizer does not take this device: " + refused.group(0))
        summary = re.search(r".*(ERROR|RACECHECK) SUMMARY: (\d+).*", finished.text)
        if not summary:
            print_tail(finished.text)
            return failed("status %d and no summary: it did not look" % finished.status)
        if finished.status != 0 or int(summary.group(2)) > 0 or not _count("PASSED", finished.text):
            print_tail(finished.text)
            return failed("status %d: %s" % (finished.status, summary.group(0).strip("= ")))
        return passed({"tests": _count("PASSED", finished.text)})
    return run


def kernel_steps():
    steps = [Step("kernel tests", 15, 120, _tests(KERNELS))]
    for way in ("cufft fp32", "fused fp32", "fused fp16"):
        steps.append(Step("self-test " + way, 8, 45, _selftest(*way.split(" "))))
    return steps


def other_steps():
    steps = [Step(name, 15, 150, _tests(tests)) for name, tests in GROUPS]
    return steps + [
        Step("other tests", 10, 60, _tests(OTHERS)),
        Step("no device is visible", 5, 30, _no_device),
        Step("there is no device 99", 5, 30, _no_device_99),
        Step("a search that fits no device", 5, 30, _too_large)]


def sanitizer_steps(tools, limit):
    return [Step("compute-sanitizer " + tool, 25, limit, _sanitizer(tool)) for tool in tools]
