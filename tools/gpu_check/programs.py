"""The programs that are checked: those of build/gpu, or built here."""
import os
import shutil
import subprocess

from gpu_check.check import Step, failed, missing, passed
from gpu_check.libraries import find_tool

BUILT_FROM_SOURCE = ("margay-engine", "gpu_test", "gpu_bench")


class Unusable(Exception):
    """There are no programs that could be checked."""


def _text(path):
    try:
        with open(path, encoding="utf-8") as file:
            return file.read().strip()
    except OSError:
        return ""


def _head(tree):
    """The commit of a source tree; empty where git does not say."""
    try:
        return subprocess.run(["git", "-C", tree, "rev-parse", "HEAD"], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, check=True,
                              universal_newlines=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


class Programs:
    """tree: the source tree, or None in a package that stands alone."""

    def __init__(self, tree, package, rebuild):
        self.tree = tree
        self.package = package
        self.rebuild = rebuild
        self.is_packed = os.path.exists(os.path.join(package, "FROM"))
        self._rebuilt = os.path.join(package, "rebuilt")
        self._check_that_they_are_of_this_tree()

    def _check_that_they_are_of_this_tree(self):
        if not self.is_packed:
            if self.rebuild:
                raise Unusable("--rebuild is for build/gpu, which is not here")
            if not self.tree:
                raise Unusable("there are no programs in %s" % self.package)
            return
        head = _head(self.tree) if self.tree else ""
        packed = self.packed_from().split(" ")[0]
        if head and head != packed and not self.rebuild and not os.path.exists(self._rebuilt):
            raise Unusable("build/gpu is not of this tree (%s): make it again with tools/gpu-check "
                           "--package, or compile its kernels again with --rebuild" % head)

    def packed_from(self):
        return _text(os.path.join(self.package, "FROM"))

    def source(self):
        """What the programs were made from, for the results."""
        if not self.is_packed:
            return _head(self.tree)
        again = ", kernels compiled again" if os.path.exists(self._rebuilt) else ""
        return self.packed_from() + again

    def steps(self):
        if not self.is_packed:
            return [Step("build", 5, 100_000, self._build)]
        steps = [Step("unpack", 5, 120, self._unpack)]
        if self.rebuild:
            steps.append(Step("rebuild", 30, 420, self._rebuild))
        return steps

    def _point(self, check, folder, programs):
        check.folder = folder
        check.programs = programs
        packed = os.path.join(folder, "share", "margay", "selftest")
        check.data = packed if os.path.isdir(packed) else os.path.join(folder, "tests", "data")

    def _unpack(self, check):
        self._point(check, self.package, os.path.join(self.package, "bin"))
        archive = os.path.join(self.package, "programs.tar.xz")
        mark = os.path.join(self.package, "unpacked")
        if not os.path.exists(archive) or (
                os.path.exists(mark) and os.path.getmtime(mark) >= os.path.getmtime(archive)):
            return passed()
        if os.path.exists(self._rebuilt):
            os.remove(self._rebuilt)
        with_xz = "xz -dc programs.tar.xz | tar -xm"
        by_python = "python3 -c 'import tarfile; tarfile.open(\"programs.tar.xz\").extractall()'"
        outcome, _ = check.expect(["sh", "-c", with_xz if shutil.which("xz") else by_python], 0, "")
        if outcome.passed:
            with open(mark, "w", encoding="ascii"):
                pass
        return outcome

    def _rebuild(self, check):
        nvcc = find_tool("nvcc")
        if not nvcc:
            return missing("the CUDA toolkit's nvcc was not found: the kernels are as packed")
        command = [os.path.join(self.package, "rebuild")] + ([self.tree] if self.tree else [])
        outcome, _ = check.expect(command, 0, "", {"NVCC": nvcc})
        if not outcome.passed:
            return outcome._replace(reason=outcome.reason + ": the kernels are as packed")
        with open(self._rebuilt, "w", encoding="ascii"):
            pass
        check.record.note("from", self.source())
        return outcome

    def _build(self, check):
        build = os.path.join(self.tree, "build", "cuda")
        self._point(check, self.tree, os.path.join(build, "bin"))
        for tool in ("cmake", "ninja", "pkg-config"):
            if not shutil.which(tool):
                return failed("neither build/gpu nor %s is here: make build/gpu with "
                              "tools/gpu-check --package on a Debian 12 machine and bring it, or "
                              "run tools/deps" % tool)
        if not find_tool("nvcc"):
            return failed("the CUDA toolkit's nvcc was not found")
        targets = " ".join(BUILT_FROM_SOURCE)
        outcome, finished = check.expect(
            ["sh", "-c", "cmake --preset cuda && cmake --build --preset cuda --target " + targets],
            0, "")
        if outcome.passed or finished.stopped:
            return outcome
        return failed("the preset cuda does not build here: run tools/deps, or bring build/gpu "
                      "(see --help)")
