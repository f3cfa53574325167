"""The programs that are checked: those of build/gpu, or built here."""
import os
import shutil
import subprocess

from gpu_check.check import Step, failed, missing, passed
from gpu_check.libraries import find_tool

BUILT_FROM_SOURCE = ("margay-engine", "gpu_test", "gpu_bench")


# Kept of a check's time, from the end of a rebuild: for the kernels' tests, one case of the benchmark
# and the profile. Seconds.
AFTER_REBUILD = 200


class Unusable(Exception):
    """There are no programs that could be checked."""


def _text(path):
    try:
        with open(path, encoding="utf-8") as file:
            return file.read().strip()
    except OSError:
        return ""


def _git(tree, *words):
    """What git prints of a source tree; empty where it does not say."""
    try:
        return subprocess.run(["git", "-C", tree, *words], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, check=True,
                              universal_newlines=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def _head(tree):
    return _git(tree, "rev-parse", "HEAD")


def _source_of(tree):
    """The commit of a source tree, and that it has changes."""
    changed = _git(tree, "status", "--porcelain", "--untracked-files=no")
    return (_head(tree) or "a tree without git") + (" with changes" if changed else "")


class Programs:
    """tree: the source tree, or None in a package that stands alone."""

    def __init__(self, tree, package, rebuild):
        self.tree = tree
        self.package = package
        self.rebuild = rebuild
        self.is_packed = os.path.exists(os.path.join(package, "FROM"))
        # Has the source from which the kernels were compiled again.
        self._rebuilt = os.path.join(package, "rebuilt")
        if not self.is_packed and rebuild:
            raise Unusable("--rebuild is for build/gpu, which is not here")
        if not self.is_packed and not tree:
            raise Unusable("there are no programs in %s" % package)

    def packed_from(self):
        return _text(os.path.join(self.package, "FROM"))

    def compiled_here(self):
        return not self.is_packed or self.rebuild or os.path.exists(self._rebuilt)

    def source(self):
        """What the programs were made from, for the results."""
        if not self.is_packed:
            return _head(self.tree)
        again = ", kernels compiled again from " + _text(self._rebuilt)
        return self.packed_from() + (again if os.path.exists(self._rebuilt) else "")

    def steps(self):
        if not self.is_packed:
            return [Step("build", 5, 100_000, self._build)]
        steps = [Step("unpack", 5, 120, self._unpack)]
        if self.rebuild:
            steps.append(Step("rebuild", 30, 100_000, self._rebuild))
        if self.tree:
            steps.append(Step("the programs' commit", 0, 20, self._compare_commits))
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
            check.record.note("from", self.source())
        with_xz = "xz -dc programs.tar.xz | tar -xm"
        by_python = "python3 -c 'import tarfile; tarfile.open(\"programs.tar.xz\").extractall()'"
        outcome, _ = check.expect(["sh", "-c", with_xz if shutil.which("xz") else by_python], 0, "")
        if outcome.passed:
            with open(mark, "w", encoding="ascii"):
                pass
        return outcome

    def _rebuild(self, check):
        kept = ": the kernels are as %s" % (
            "they were" if os.path.exists(self._rebuilt) else "packed")
        nvcc = find_tool("nvcc")
        if not nvcc:
            return missing("the CUDA toolkit's nvcc was not found" + kept)
        limit = check.left() - AFTER_REBUILD
        if limit <= 0:
            return missing("%d s are kept for what comes after it%s" % (AFTER_REBUILD, kept))
        source = _source_of(self.tree) if self.tree else self.packed_from().split(" ")[0]
        command = [os.path.join(self.package, "rebuild")] + ([self.tree] if self.tree else [])
        outcome, finished = check.expect(command, 0, "", {"NVCC": nvcc}, limit)
        if finished.stopped and not outcome.passed:
            return missing("not finished after %d s, and %d s are kept for what comes after it%s" %
                           (finished.seconds, AFTER_REBUILD, kept))
        if not outcome.passed:
            return outcome._replace(reason=outcome.reason + kept)
        with open(self._rebuilt, "w", encoding="utf-8") as file:
            file.write(source + "\n")
        check.record.note("from", self.source())
        return outcome

    def _compare_commits(self, _):
        head = _head(self.tree)
        made_from = _text(self._rebuilt) if os.path.exists(self._rebuilt) else self.packed_from()
        if head and made_from.split(" ")[0] != head:
            return failed("build/gpu is of %s and this tree of %s: make it again with "
                          "tools/gpu-check --package, or compile its kernels again with --rebuild" %
                          (made_from.split(" ")[0] or "an unknown commit", head))
        return passed({"tree": head})

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
