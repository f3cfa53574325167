"""The steps of a check: each within the time that is left, each recorded when it has ended."""
import collections
import json
import os
import re
import sys
import time
import traceback

from gpu_check import commands

# Kept for ending the last command and for writing its results, seconds.
RESERVE = 6.0
TAIL_LINES = 15

# needs: seconds without which the step is not begun. limit: seconds after which it is stopped.
Step = collections.namedtuple("Step", "name needs limit run")

# missing: what could not be done here, though it should be. A skip that misses nothing is that of
# what this machine or build does not have.
Outcome = collections.namedtuple("Outcome", "passed failed skipped missing reason figures")


def passed(figures=None, count=1):
    return Outcome(count, 0, 0, False, "", figures)


def failed(reason, figures=None):
    return Outcome(0, 1, 0, False, reason, figures)


def missing(reason, figures=None):
    return Outcome(0, 0, 1, True, reason, figures)


def not_here(reason):
    return Outcome(0, 0, 1, False, reason, None)


class Stopped(BaseException):
    """This process was asked to stop."""


class Record:
    """NAME.json, whole at every moment, and NAME.log."""

    def __init__(self, folder, name, facts):
        self._path = os.path.join(folder, name + ".json")
        self.log = commands.Log(os.path.join(folder, name + ".log"))
        self._data = dict(facts, running="", steps=[])
        self._write()

    def _write(self):
        with open(self._path + ".new", "w", encoding="utf-8") as file:
            json.dump(self._data, file, indent=1)
            file.write("\n")
            file.flush()
            os.fsync(file.fileno())
        os.replace(self._path + ".new", self._path)

    def note(self, key, value):
        self._data[key] = value
        self._write()

    def add(self, step):
        self._data["running"] = ""
        self._data["steps"].append(step)
        self._write()


class Check:
    """Runs steps.

    programs: the folder of the programs. folder: where they are run. data: the self-test's files.
    """

    def __init__(self, clock, seconds, record):
        self.clock = clock
        self.seconds = seconds
        self.record = record
        self.programs = ""
        self.folder = "."
        self.data = ""
        self.scratch = ""
        self.devices = 0
        self.info = ""  # what margay-engine info prints
        self.toolkit = ""  # nvcc's release
        self.environment = dict(os.environ)
        self.commands = commands.Commands()
        self.counts = collections.Counter()
        self.complaints = []
        self._deadline = 0.0
        self._cut_short = False

    def program(self, name):
        return os.path.join(self.programs, name)

    def left(self):
        return self.seconds - RESERVE - self.clock.now()

    def do(self, step):
        left = self.left()
        begun = self.clock.now()
        self._cut_short = left < step.limit
        self._deadline = begun + min(left, step.limit)
        if left < step.needs:
            outcome = missing("it needs about %d s, and %d of the %d s are left" %
                              (step.needs, max(left, 0), self.seconds))
        else:
            self.record.note("running", step.name)
            self.record.log.write("==== %s\n" % step.name)
            try:
                outcome = step.run(self)
            except Stopped:
                self._end(step, failed("the check was stopped during it"), begun)
                raise
            except Exception as error:  # one broken step must not take the others with it
                self.record.log.write(traceback.format_exc())
                outcome = failed("%s: %s" % (type(error).__name__, error))
        self._end(step, outcome, begun)
        return outcome

    def _end(self, step, outcome, begun):
        seconds = self.clock.now() - begun
        self.counts.update(passed=outcome.passed, failed=outcome.failed, skipped=outcome.skipped,
                           missing=int(outcome.missing))
        say("== %s: %d passed, %d failed, %d skipped (%d s)" %
              (step.name, outcome.passed, outcome.failed, outcome.skipped, seconds))
        entry = collections.OrderedDict(
            step=step.name, seconds=round(seconds, 1), passed=outcome.passed,
            failed=outcome.failed, skipped=outcome.skipped)
        if outcome.reason:
            word = "failed" if outcome.failed else "skipped"
            say("   %s: %s" % (word, outcome.reason))
            self.record.log.write("%s: %s\n" % (word, outcome.reason))
            self.complaints.append("%s %s: %s" % (step.name, word, outcome.reason))
            entry["reason"] = outcome.reason
        if outcome.figures is not None:
            entry["figures"] = outcome.figures
        self.record.add(entry)

    def left_of_step(self):
        return max(self._deadline - self.clock.now(), 0)

    def run(self, command, more=None, limit=None):
        """Within the time of the step that is running, and within `limit`."""
        left = self.left_of_step()
        return self.commands.run(command, left if limit is None else min(left, limit),
                                 self.record.log, self.clock,
                                 dict(self.environment, **(more or {})), self.folder)

    def stopped(self, finished, figures=None, slow=False):
        """The outcome of a command that took too long. slow: where that proves nothing wrong."""
        rest = "" if finished.died else ", and it does not die"
        if self._cut_short:
            return missing("it did not end in the %d s that were left%s" %
                           (finished.seconds, rest), figures)
        if slow:
            return missing("not finished after %d s%s" % (finished.seconds, rest), figures)
        return failed("stopped after %d s%s" % (finished.seconds, rest), figures)

    def expect(self, command, status, pattern, more=None, limit=None):
        """Passes where the command ends with `status` and its output matches `pattern`."""
        finished = self.run(command, more, limit)
        if finished.status == status and re.search(pattern, finished.text, re.MULTILINE):
            return passed(), finished
        print_tail(finished.text)
        if finished.stopped:
            return self.stopped(finished), finished
        return failed("status %d; wanted %d and words like '%s': %s" %
                      (finished.status, status, pattern, last_line(finished.text))), finished

    def succeeded(self):
        return self.counts["failed"] == 0 and self.counts["missing"] == 0 and \
            self.counts["passed"] > 0


def say(text):
    """Prints a line. The check continues when nobody reads its output."""
    try:
        print(text)
    except OSError:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")


def print_tail(text):
    for line in text.splitlines()[-TAIL_LINES:]:
        say("   | " + line)


def last_line(text):
    return (text.strip().splitlines() or ["nothing was printed"])[-1][:300]


def name_of_results(device):
    word = "".join(c if c.isalnum() else "-" for c in (device or "no device").lower())
    return time.strftime("%Y-%m-%d-%H%M%S-") + word
