"""Where a machine has the CUDA toolkit's tools, cuFFT and NCCL."""
import glob
import os
import shutil
import subprocess
import sys

from gpu_check.check import failed, not_here, passed, say

CUFFT = ("libcufft.so.12", "libcufft.so.11")  # in the order in which the engine takes them
NCCL = ("libnccl.so.2",)


def _usual(pattern):
    """Folders of a machine, the newest first. MARGAY_GPU_CHECK_ROOT, for tests, names another
    root."""
    return sorted(glob.glob(os.environ.get("MARGAY_GPU_CHECK_ROOT", "") + pattern), reverse=True)


def toolkits():
    """Folders of CUDA toolkits: those that CUDA_HOME or CUDA_PATH names, then the usual ones."""
    named = [os.environ[name] for name in ("CUDA_HOME", "CUDA_PATH") if os.environ.get(name)]
    return [*named, *_usual("/usr/local/cuda"), *_usual("/usr/local/cuda-*"), *_usual("/opt/cuda"),
            *_usual("/opt/nvidia/nsight-compute/*")]


def find_tool(name):
    """In PATH or in a toolkit; None where it is in neither."""
    for folder in [None, *toolkits()]:
        if folder is None:
            found = shutil.which(name)
        else:
            found = shutil.which(name, path=":".join(
                os.path.join(folder, place) for place in ("bin", "compute-sanitizer", "")))
        if found:
            return found
    return None


def _printed(command):
    try:
        return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, timeout=20, check=False,
                              universal_newlines=True).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ""


def _of_loader(name):
    for folder in os.environ.get("LD_LIBRARY_PATH", "").split(":"):
        if folder and os.path.exists(os.path.join(folder, name)):
            return os.path.join(folder, name)
    for line in _printed([shutil.which("ldconfig") or "/sbin/ldconfig", "-p"]).splitlines():
        if line.split()[:1] == [name] and "x86-64" in line:
            return line.split("=>")[1].strip()
    return None


def _of_toolkits(name):
    for folder in toolkits():
        for place in ("lib64", "lib", "targets/x86_64-linux/lib"):
            path = os.path.join(folder, place, name)
            if os.path.exists(path):
                return path
    return None


def site_packages():
    """The folders of every Python in PATH and of environments in the usual places."""
    folders = list(sys.path)
    for python in ("python3", "python"):
        if shutil.which(python):
            words = "import sys; print(*sys.path, sep='\\n')"
            folders += _printed([python, "-c", words]).splitlines()
    for root in (os.environ.get("VIRTUAL_ENV"), os.environ.get("CONDA_PREFIX"),
                 os.path.expanduser("~/.local"), *_usual("/opt/*"), *_usual("/opt/*/.venv"),
                 *_usual("/opt/*/venv")):
        folders += sorted(glob.glob("%s/lib/python3*/site-packages" % root)) if root else []
    return [folder for folder in dict.fromkeys(folders) if folder.endswith("-packages")]


def _of_python(name):
    for folder in site_packages():
        # nvidia/cufft/lib of the packages for CUDA 12, nvidia/cu13/lib of those for 13.
        found = sorted(glob.glob(os.path.join(folder, "nvidia", "*", "lib", name)))
        if found:
            return found[0]
    return None


def _of_conda(name):
    path = os.path.join(os.environ.get("CONDA_PREFIX", ""), "lib", name)
    return path if os.environ.get("CONDA_PREFIX") and os.path.exists(path) else None


def find_library(names):
    """(kind of place, path) of the first name that is anywhere; None."""
    for name in names:
        for kind, look in (("the loader's path", _of_loader), ("a CUDA toolkit", _of_toolkits),
                           ("a Conda environment", _of_conda),
                           ("a Python environment", _of_python)):
            path = look(name)
            if path:
                return kind, path
    return None


def _make_known(check, library):
    """By a link: what else is in its folder must reach neither the programs nor the tools."""
    folder = os.path.join(check.scratch, "lib")
    os.makedirs(folder, exist_ok=True)
    os.symlink(os.path.abspath(library), os.path.join(folder, os.path.basename(library)))
    before = check.environment.get("LD_LIBRARY_PATH", "").split(":")
    check.environment["LD_LIBRARY_PATH"] = ":".join(
        [folder] + [other for other in before if other and other != folder])


def _take(check, what, names, where_not_found):
    found = find_library(names)
    if not found:
        return where_not_found("none of %s is in the loader's path, a CUDA toolkit or a Conda or "
                               "Python environment" % ", ".join(names))
    kind, path = found
    say("   %s: %s (%s)" % (what, path, kind))
    check.record.log.write("%s: %s (%s)\n" % (what, path, kind))
    if kind != "the loader's path":
        _make_known(check, path)
    return passed({"path": path, "found_in": kind})


def take_cufft(check):
    """Makes it known to the programs that run after this."""
    return _take(check, "cuFFT", CUFFT, failed)


def take_nccl(check):
    return _take(check, "NCCL", NCCL, not_here)
