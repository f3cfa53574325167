#!/usr/bin/env python3
"""Measures search_bench's sides in turns, and prints a table of them.

Fused transforms, FFTW's, and FFTW's bare transforms of one image: each run of a size is a process of
its own, so that its peak memory is that of this size. Medians of --rounds rounds; of both paths and
their ratio within a round also the lowest and the highest. With --instructions, a table of the
instructions of a correlation instead, counted by valgrind's callgrind, which has AVX2 but no AVX-512.
Needs Python and an idle machine, and valgrind for --instructions.

The floor of a correlation is the time of its transforms' operations at the rate of multiply-adds, or
that of writing and reading what lies between columns and rows at the rates of the memory, whichever
is longer; the rates are measured once, before the sizes. A transform of N points, N being a side of
the image, counts 5 N log2 N operations, the product 6, and two correlations share a complex
transform. Rows that are zero or not wanted do not count, nor do projections and statistics.

  bench/search_table.py build/release-tests/bin/search_bench --rounds 5
"""

import argparse
import json
import math
import pathlib
import re
import statistics
import subprocess
import tempfile

SIZES = [(512, 512, 128), (1024, 1024, 128), (2048, 2048, 256), (4096, 4096, 512),
         (4092, 5760, 512), (3838, 3710, 384)]
# Collection flips at every function that matches: the parenthesis leaves out correlate_columns().
BACKENDS = {"fused": "*FusedBackend::correlate(*", "fftw": "*CpuBackend::correlate(*"}
WARM_UPS = 2  # calls of correlate() before those that are timed (search_bench.cpp)


def answer(program, name, seconds, before=()):
    command = [*before, *program, f"--benchmark_filter=^{name}", f"--benchmark_min_time={seconds}",
               "--benchmark_format=json"]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    given = json.loads(done.stdout) if done.stdout else {"benchmarks": []}
    if len(given["benchmarks"]) != 1:
        raise SystemExit(f"search_table: {program[0]} has {len(given['benchmarks'])} benchmarks named '{name}'")
    return given


def run(program, name, seconds, before=()):
    return answer(program, name, seconds, before)["benchmarks"][0]


# What the figures are of.
def conditions(program, before):
    given = answer(program, f"correlate/fused/{case(SIZES[0], 1)}", 0, before)
    context = given["context"]
    try:
        commit = subprocess.run(["git", "describe", "--always", "--dirty"], capture_output=True, text=True,
                                cwd=pathlib.Path(__file__).parent).stdout.strip()
    except OSError:
        commit = ""
    caches = ", ".join(f"L{c['level']} {c['type'].lower()} {c['size'] // 1024} KB" for c in context["caches"])
    return (f"{context['date']}; {given['benchmarks'][0]['label']}; {context['num_cpus']} processors of "
            f"{context['mhz_per_cpu']} MHz; {caches}; compiler {context['compiler']}, {context['fftw']}, "
            f"Highway {context['highway']}; this script's commit {commit or 'unknown'}")


def case(size, threads):
    height, width, template = size
    return f"height:{height}/width:{width}/template:{template}/threads:{threads}/"


def least_seconds(size, peak):
    height, width, template = size
    rows = height - template + 1
    operations = 5 * (template + rows) * width * math.log2(width)
    operations += width * height * (10 * math.log2(height) + 6)
    written = rows * width * 8
    memory = written / peak["write_B/s"] + written / peak["read_B/s"]
    return max(operations / peak["operations/s"], memory) / 2


# The first of three calls finds no maxima, so that a third of the additions to the statistics is
# slower than in a long search.
def instructions(program, side, size):
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "callgrind"
        measured = run(program, f"correlate/{side}/{case(size, 1)}", 0, before=[
            "valgrind", "--quiet", "--tool=callgrind", f"--callgrind-out-file={out}",
            "--collect-atstart=no", f"--toggle-collect={BACKENDS[side]}"])
        total = sum(int(line.split()[1]) for line in out.read_text().splitlines()
                    if re.match(r"(summary|totals): ", line)) / 2
    # The time of an iteration is in milliseconds.
    correlations = measured["CC/s"] * measured["real_time"] / 1000
    return total / (correlations * (measured["iterations"] + WARM_UPS))


def spread(values, digits=4):
    return (f"{statistics.median(values):.{digits}g} "
            f"({min(values):.{digits}g} to {max(values):.{digits}g})")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("program", help="search_bench")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.5, help="of each run, at least")
    parser.add_argument("--threads", type=int, nargs="+", choices=[1, 2], default=[1, 2])
    parser.add_argument("--sizes", type=int, nargs="+", choices=[s[0] for s in SIZES],
                        help="heights of the images; default: all")
    parser.add_argument("--instruction-set", metavar="NAME",
                        help="the widest that the program uses, as Highway calls it (AVX2); FFTW chooses its own")
    parser.add_argument("--instructions", action="store_true", help="count them, and time nothing")
    options = parser.parse_args()
    program = [options.program]
    if options.instruction_set:
        program.append(f"--instruction_set={options.instruction_set}")
    sizes = [s for s in SIZES if not options.sizes or s[0] in options.sizes]

    print(conditions(program, ["valgrind", "--quiet", "--tool=none"] if options.instructions else []),
          flush=True)
    if options.instructions:
        print("| rows x columns | template | million instructions, fused | FFTW path |")
        print("| --- | --- | --- | --- |")
        for size in sizes:
            counts = [instructions(program, side, size) / 1e6 for side in BACKENDS]
            print(f"| {size[0]} x {size[1]} | {size[2]} | {counts[0]:.4g} | {counts[1]:.4g} |", flush=True)
        return

    for threads in options.threads:
        bare_too = threads == 1
        peak = run(program, f"peak/threads:{threads}/", 0)
        print(f"\nThreads: {threads}; {peak['operations/s'] / 1e9:.4g} billion operations a second, "
              f"{peak['read_B/s'] / 1e9:.3g} GB/s read, {peak['write_B/s'] / 1e9:.3g} GB/s written\n")
        print("| rows x columns | template | fused | FFTW path | ratio |"
              + (" bare | ratio to it |" if bare_too else "")
              + " Gpix/s | floor / time | peak MB | FFTW path's |")
        print("| --- | --- | --- | --- | --- |" + (" --- | --- |" if bare_too else "")
              + " --- | --- | --- | --- |")
        for size in sizes:
            rates = {"fused": [], "fftw": [], "bare": []}
            memory = {}
            for _ in range(options.rounds):
                for side in BACKENDS:
                    measured = run(program, f"correlate/{side}/{case(size, threads)}", options.seconds)
                    rates[side].append(measured["CC/s"])
                    memory[side] = measured["peak_MB"]
                if bare_too:
                    rates["bare"].append(
                        run(program, f"bare/{case(size, 1)}", options.seconds)["CC/s"])
            fused = statistics.median(rates["fused"])
            ratios = [a / b for a, b in zip(rates["fused"], rates["fftw"])]
            cells = [f"{size[0]} x {size[1]}", str(size[2]), spread(rates["fused"]),
                     spread(rates["fftw"]), spread(ratios, 3)]
            if bare_too:
                to_bare = statistics.median(a / b for a, b in zip(rates["fused"], rates["bare"]))
                cells += [f"{statistics.median(rates['bare']):.4g}", f"{to_bare:.1f}"]
            cells += [f"{fused * size[0] * size[1] / 1e9:.3f}",
                      f"{100 * fused * least_seconds(size, peak):.0f} %",
                      f"{memory['fused']:.0f}", f"{memory['fftw']:.0f}"]
            print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
