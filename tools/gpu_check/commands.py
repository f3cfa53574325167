"""Commands with a time limit, whose output goes into the log while they run."""
import collections
import ctypes
import os
import signal
import subprocess
import time

# What a step's output may leave in the log: a sanitizer can write more than a machine brings back.
MOST_LOGGED = 400_000
PAUSE = 0.02
GRACE = 5.0  # seconds from SIGTERM to SIGKILL, and from that to giving up

# died: False where the process was still there GRACE seconds after SIGKILL.
Finished = collections.namedtuple("Finished", "status text seconds stopped died")


class Clock:
    """Seconds since it was made. MARGAY_GPU_CHECK_CLOCK, for tests, names a file that has them."""

    def __init__(self):
        self._file = os.environ.get("MARGAY_GPU_CHECK_CLOCK")
        self._last = 0.0
        self._start = time.monotonic()

    def now(self):
        if not self._file:
            return time.monotonic() - self._start
        with open(self._file, encoding="ascii") as file:
            # It is empty while it is being written.
            self._last = float(file.read().strip() or self._last)
        return self._last


class Log:
    """A file that commands append to while they run, so that nothing is lost with this process."""

    def __init__(self, path):
        self._file = open(path, "ab+")

    def fileno(self):
        return self._file.fileno()

    def write(self, text):
        os.write(self.fileno(), text.encode("utf-8", "replace"))

    def size(self):
        return os.fstat(self.fileno()).st_size

    def text_from(self, offset):
        """What was written since; the middle of more than MOST_LOGGED bytes is removed."""
        size = self.size() - offset
        data = os.pread(self.fileno(), min(size, MOST_LOGGED // 2), offset)
        rest = size - len(data)
        if rest > 0:
            kept = min(rest, MOST_LOGGED // 2)
            tail = os.pread(self.fileno(), kept, offset + size - kept)
            if rest > kept:
                gap = b"\n[%d bytes are left out]\n" % (rest - kept)
                os.ftruncate(self.fileno(), offset + len(data))
                os.write(self.fileno(), gap + tail)
                data += gap
            data += tail
        return data.decode("utf-8", "replace")


def _become_a_group_that_dies_with_its_parent():
    os.setpgid(0, 0)
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG, for this process alone


def _kill(group):
    try:
        os.killpg(group, signal.SIGKILL)
    except OSError:  # it is gone, or another user's
        pass


def _guard(pipe):
    """Reads numbers of groups until the pipe is closed; then kills the last."""
    os.setsid()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    lines = b""
    while True:
        data = os.read(pipe, 4096)
        if not data:
            break
        lines = (lines + data)[-100:]
    group = int(lines.split()[-1]) if lines.split() else 0
    if group:
        _kill(group)


class Commands:
    """Runs commands, one at a time, and leaves none of their processes: neither when a command has
    ended, nor when this process is gone, however it ended; a guard process sees to that."""

    def __init__(self):
        reader, self._pipe = os.pipe()
        if os.fork() == 0:
            try:
                os.close(self._pipe)
                _guard(reader)
            finally:
                os._exit(0)
        os.close(reader)

    def _tell_guard(self, group):
        try:
            os.write(self._pipe, b"%d\n" % group)
        except OSError:  # somebody killed the guard
            pass

    def start(self, command, log, environment, folder):
        """Raises OSError where there is no such program."""
        def prepare():
            _become_a_group_that_dies_with_its_parent()
            # Before the program starts: this process may be killed at any moment.
            self._tell_guard(os.getpid())

        try:
            return subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log.fileno(), stderr=log.fileno(),
                env=environment, cwd=folder, preexec_fn=prepare)
        except OSError:
            self._tell_guard(0)
            raise

    def end(self, process):
        """Ends the whole group of `process`: asked where it still runs, then killed. Returns False
        where the process does not die, as one that waits for a broken driver."""
        if process.poll() is None:
            try:
                os.killpg(process.pid, signal.SIGTERM)
                process.wait(GRACE)
            except (OSError, subprocess.TimeoutExpired):
                pass
        _kill(process.pid)
        self._tell_guard(0)
        try:
            process.wait(GRACE)
        except subprocess.TimeoutExpired:
            return False
        return True

    def run(self, command, limit, log, clock, environment, folder):
        """status: 128 and the signal's number where a signal ended it; 127 where it is not
        there."""
        begun = clock.now()
        log.write("$ %s\n" % " ".join(command))
        offset = log.size()
        try:
            process = self.start(command, log, environment, folder)
        except OSError as error:
            log.write("%s\n" % error)
            return Finished(127, str(error), 0.0, False, True)
        stopped = False
        try:
            while process.poll() is None and not stopped:
                time.sleep(PAUSE)
                stopped = clock.now() - begun >= limit and process.poll() is None
        finally:
            # Also where this process itself is asked to stop.
            died = self.end(process)
        code = process.returncode if died else -signal.SIGKILL
        seconds = clock.now() - begun
        text = log.text_from(offset)
        status = code if code >= 0 else 128 - code
        log.write("[status %d, %.1f s%s%s]\n" % (
            status, seconds, ", stopped" if stopped else "",
            "" if died else ", process %d does not die" % process.pid))
        return Finished(status, text, seconds, stopped, died)
