#!/usr/bin/env python3
"""The budget of the fused path's kernels, from what the compiler made of them; no device is needed.

Counts the instructions of each kernel by disassembly of a compiled object (engine/cuda/fused/fp32.cu
or fp16.cu, any architecture, one length), and the bytes that the plan of a search makes it move.
Prints, for each kernel, the time of one correlation at 100 % of each resource, and the rate that
follows. Needs cuobjdump and nvdisasm of the CUDA toolkit in PATH (or --cuobjdump), and nothing else.

  nvcc -std=c++20 -O2 -DNDEBUG -arch=sm_90 -I. -DMARGAY_FUSED_LENGTHS='"2304"' \\
       -c engine/cuda/fused/fp32.cu -o fp32.o
  bench/kernel_budget.py fp32.o --length 2304 --tiles 2x2 --pixels 3585x3585
"""

import argparse
import math
import pathlib
import re
import subprocess
from dataclasses import dataclass

TUNING = pathlib.Path(__file__).resolve().parent.parent / "engine" / "cuda" / "fused_tuning.h"

# Multiprocessors, a sustained clock, and rates in bytes a second: of a copy through the memory, and
# of reads that hit the L2 cache.
DEVICES = {
    "H100": dict(multiprocessors=132, clock=1.755e9, memory=3.0e12, l2=5.5e12, l2_bytes=50e6),
    "H200": dict(multiprocessors=132, clock=1.755e9, memory=4.3e12, l2=5.5e12, l2_bytes=50e6),
}
# The columns of a block, the rows of a block, and bytes of a complex number (engine/cuda/fused).
STORAGES = {
    "SingleStorage": dict(columns=2, rows=2, number=8, name="fp32", pairs=1),
    "HalfArithmetic": dict(columns=4, rows=2, number=4, name="fp16", pairs=2),
}
STATISTICS = 24  # bytes of a pixel
PROJECTIONS_US = 1.5  # slices, filters, back-transforms: not of the fused path, estimated
REAL = 1.4  # a real time over the sum of the kernels' bounds, estimated


@dataclass
class Instruction:
    address: int
    name: str
    text: str

    def target(self):
        found = re.search(r"0x([0-9a-f]+)\s*$", self.text)
        return int(found.group(1), 16) if found else None

    def width(self):
        """Words of 4 bytes that a thread moves."""
        return 4 if ".128" in self.name else 2 if ".64" in self.name else 1


@dataclass
class Count:
    """Per thread."""

    issued: float = 0  # instructions
    floating: float = 0
    shared: float = 0  # accesses of shared memory
    local: float = 0  # of spilled registers
    wavefronts: float = 0  # of 128 bytes, of a whole warp, through shared memory and L1

    def __add__(self, other):
        return Count(*(a + b for a, b in zip(vars(self).values(), vars(other).values())))

    def __mul__(self, factor):
        return Count(*(a * factor for a in vars(self).values()))

    def __sub__(self, other):
        return self + other * -1


class Kernel:
    def __init__(self, name, instructions, threads):
        self.name, self.instructions, self.threads = name, instructions, threads
        self.registers = 0
        backward = [
            i
            for i in instructions
            if i.name.startswith("BRA") and i.target() is not None and i.target() < i.address
        ]
        loops = [(b.target(), b.address) for b in backward]
        barriers = [i.address for i in instructions if i.name.startswith("BAR")]

        def has_barrier(loop):
            return any(loop[0] <= b <= loop[1] for b in barriers)

        # Loops that all threads of a block go round together, the innermost first; and short ones
        # for what is rare, which count for nothing.
        self.loops = sorted((l for l in loops if has_barrier(l)), key=lambda l: l[1] - l[0])
        short = [l for l in loops if not has_barrier(l) and not self.has_floats(l)]
        self.rare = [(self.entrance(l, barriers), l[1]) for l in short]

    def entrance(self, loop, barriers):
        """Where what leads into a loop begins: after the last branch that goes round all of it."""
        for i in reversed(self.instructions):
            target = i.target() if i.name.startswith("BRA") and i.address < loop[0] else None
            if target is not None and target > loop[1]:
                between = any(i.address < b < loop[0] for b in barriers)
                return loop[0] if between else i.address + 1
        return loop[0]

    def has_floats(self, loop):
        """Whether a loop is one of a transform, gone through a second time where a sum is large."""
        inside = [i for i in self.instructions if loop[0] <= i.address <= loop[1]]
        return sum(i.name.startswith(("FADD", "HADD2")) for i in inside) > 100

    def is_rare(self, address):
        return any(first <= address <= last for first, last in self.rare)

    def partial_rounds(self):
        """Regions that only some warps enter: the last butterflies of a stage."""
        regions = []
        for i in self.instructions:
            if not i.name.startswith("BRA") or i.target() is None or i.target() <= i.address:
                continue
            inside = [j for j in self.instructions if i.address < j.address < i.target()]
            # Others skip whole transforms, or compare correlations.
            other = any(j.name.startswith(("BAR", "FSETP")) for j in inside)
            if not other and sum(j.name.startswith(("LDS", "STS")) for j in inside) >= 4:
                regions.append((i.address, i.target()))
        return regions

    def count(self, first, last, share_of_partial, root_wavefronts):
        total = Count()
        partial = self.partial_rounds()
        for i in self.instructions:
            if not first <= i.address <= last or i.name == "NOP" or self.is_rare(i.address):
                continue
            share = share_of_partial if any(a < i.address < b for a, b in partial) else 1.0
            total += count_of(i, root_wavefronts) * share
        return total

    def whole(self):
        return self.instructions[0].address, self.instructions[-1].address


def count_of(i, root_wavefronts):
    shared = i.name.startswith(("LDS", "STS"))
    outside = i.name.startswith(("LDG", "STG", "LDL", "STL"))
    wavefronts = i.width() if shared or outside else 0
    if i.name.startswith("LDG") and "CONSTANT" in i.name:
        wavefronts *= root_wavefronts
    return Count(
        issued=1,
        floating=i.name.startswith(("FADD", "FMUL", "FFMA", "HADD2", "HMUL2", "HFMA2", "FMNMX")),
        shared=shared,
        local=i.name.startswith(("LDL", "STL")),
        wavefronts=wavefronts,
    )


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def read_kernels(path, cuobjdump):
    bodies = {}
    name = None
    line_of_code = re.compile(r"^\s+/\*([0-9a-f]{4,})\*/\s+(?:@!?U?P\w+)?\s*([A-Z]\w*[\w.]*)\s*(.*?);")
    for line in run(cuobjdump, "-sass", path).splitlines():
        function = re.search(r"Function : (\S+)", line)
        if function:
            name = function.group(1)
            bodies[name] = []
        found = line_of_code.match(line)
        if found:
            address, word, rest = found.groups()
            bodies[name].append(Instruction(int(address, 16), word, rest))
    kernels = {n: Kernel(n, body, 0) for n, body in bodies.items()}
    section = None
    lines = run(cuobjdump, "-elf", path).splitlines()
    for i, line in enumerate(lines):
        if line.startswith(".nv.info."):
            section = line[len(".nv.info.") :].strip()
        if "EIATTR_MAX_THREADS" in line and section in kernels:
            kernels[section].threads = int(lines[i + 2].split()[1], 16)
    for found in re.finditer(r"Function (\S+):\s+REG:(\d+)", run(cuobjdump, "-res-usage", path)):
        if found.group(1) in kernels:
            kernels[found.group(1)].registers = int(found.group(2))
    return kernels


def find(kernels, function, *arguments):
    wanted = [function] + [f"Li{a}E" for a in arguments]
    for name, kernel in kernels.items():
        if re.search(rf"\d{function}I", name) and all(w in name for w in wanted):
            return kernel
    return None


@dataclass
class Search:
    n: int
    length: int  # of both axes of a tile
    tiles_down: int
    tiles_along: int
    valid_width: int
    valid_height: int
    in_pass: int
    transforms_first: bool  # in the order of the blocks of correlate_columns

    @property
    def tiles(self):
        return self.tiles_down * self.tiles_along

    def kept(self):
        """Points of a thread of finish_rows, where a kernel for fewer than all is compiled."""
        first = radices(self.length)[0]
        step = self.length // first
        few = (13 * first + 15) // 16
        columns = math.ceil(self.valid_width / self.tiles_along)
        return few if columns <= few * step else first

    def rows_per_tile(self):
        return math.ceil(self.valid_height / self.tiles_down)


def radices(length):
    found = re.search(rf"RadicesOf<{length}> : Radices<(\d+), (\d+), (\d+)>", TUNING.read_text())
    return tuple(int(x) for x in found.groups())


def share_of_last_round(kernel, length, per_line):
    """Of a block's warps that have a butterfly in the last round of the last stage."""
    butterflies = length // radices(length)[2]
    active = butterflies % per_line or per_line
    lines = kernel.threads // per_line
    return math.ceil(active * lines / 32) / math.ceil(kernel.threads / 32)


def budget(kernel, per_transform, per_pass, blocks, search, bytes_moved):
    """Per correlation: warp instructions, wavefronts, bytes."""
    warps = math.ceil(kernel.threads / 32) * blocks / 2
    total = per_transform + per_pass * (1 / search.in_pass)
    return dict(
        issue=total.issued * warps,
        wavefronts=total.wavefronts * warps,
        memory=bytes_moved["memory"] / 2,
        l2=bytes_moved["l2"] / 2,
    )


def bytes_of(search, storage):
    """Of one transform of two correlations, by kernel: what the memory moves, and what L2 does."""
    number = storage["number"]
    rows = search.n * search.length * number
    spectra = search.tiles * search.length**2 * number
    kept = math.ceil(search.rows_per_tile() / 8) * 8
    exchange = search.tiles * kept * search.length * number
    statistics = search.valid_width * search.valid_height * 2 * STATISTICS / search.in_pass
    # What one step over the transforms touches before a chunk's spectra are wanted again.
    again = spectra / search.in_pass if search.transforms_first else spectra
    return {
        "transform_template_rows": dict(memory=search.n**2 * 4 + rows, l2=search.n**2 * 4 + rows),
        "correlate_columns": dict(memory=rows + exchange + again, l2=rows + exchange + spectra),
        "finish_rows": dict(memory=exchange + statistics, l2=exchange + statistics),
    }


def count_kernel(kernel, function, search, roots, per_line):
    """Per thread: (for each transform, for each pass, for 16 points of its loop)."""
    share = share_of_last_round(kernel, search.length, per_line)
    everything = kernel.count(*kernel.whole(), share, roots)
    if not kernel.loops:
        return everything, Count(), everything
    inner = kernel.count(*kernel.loops[0], share, roots)
    if function == "correlate_columns":
        outer = everything
        if len(kernel.loops) > 1:
            outer = kernel.count(*kernel.loops[1], share, roots)
        return outer - inner + inner * search.tiles, Count(), inner
    return inner, everything - inner, inner


def measure(kernels, search, storage_key):
    storage = STORAGES[storage_key]
    moved = bytes_of(search, storage)
    inputs = 4 if search.length >= 1024 else 2
    out = []
    for function, arguments in (
        ("transform_template_rows", (search.length, inputs)),
        ("correlate_columns", (search.length, inputs, search.kept())),
        ("correlate_columns", (search.length, inputs)),
        ("correlate_columns_in_two", (search.length, 12, 39)),
        ("finish_rows", (search.length, search.kept())),
        ("finish_rows", (search.length,)),
    ):
        kernel = find(kernels, function, *arguments)
        if kernel is None or any(function == done[0] for done in out):
            continue
        plain = function.replace("_in_two", "")
        in_block = storage["columns"] if plain == "correlate_columns" else storage["rows"]
        lines = in_block // storage["pairs"]
        per_line = kernel.threads // lines
        # Neighbouring threads of one block share their roots where they have neighbouring lines.
        roots = 0.5 if lines > 1 else 1.0
        per_transform, per_pass, loop = count_kernel(kernel, plain, search, roots, per_line)
        blocks = {
            "transform_template_rows": math.ceil(search.n / in_block),
            "correlate_columns": search.length // in_block,
            "finish_rows": math.ceil(search.rows_per_tile() / in_block) * search.tiles,
        }[plain]
        points = search.length / per_line
        b = budget(kernel, per_transform, per_pass, blocks, search, moved[plain])
        out.append((function, kernel, loop * (16 / points), b))
    return storage["name"], out


def microseconds(b, device):
    d = DEVICES[device]
    rate = d["multiprocessors"] * d["clock"]
    return dict(
        issue=b["issue"] / (4 * rate) * 1e6,
        shared=b["wavefronts"] / rate * 1e6,
        memory=b["memory"] / d["memory"] * 1e6,
        l2=b["l2"] / d["l2"] * 1e6,
    )


def print_table(storage, rows, device, alternative):
    print(f"{storage}, {device}:\n")
    print("| kernel | registers | spills | instructions (floating) | shared accesses |"
          " issue | shared + L1 | L2 | memory | bound |")
    print("| --- |" + " --- |" * 9)
    total = 0.0
    for function, kernel, loop, b in rows:
        us = microseconds(b, device)
        bound = max(us.values())
        left_out = "correlate_columns" if alternative else "correlate_columns_in_two"
        if function != left_out:
            total += bound
        spills = sum(i.name.startswith(("LDL", "STL")) for i in kernel.instructions)
        print(f"| `{function}` | {kernel.registers} | {spills} | {loop.issued:.0f}"
              f" ({loop.floating:.0f}) | {loop.shared:.0f} | {us['issue']:.1f} |"
              f" {us['shared']:.1f} | {us['l2']:.1f} | {us['memory']:.1f} | {bound:.1f} |")
    real = total * REAL + PROJECTIONS_US * REAL
    print(f"\nsum of bounds {total:.1f} us; predicted {real:.1f} us, {1e6 / real:,.0f} CC/s\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("objects", nargs="+", help="compiled fp32.cu or fp16.cu")
    parser.add_argument("--length", type=int, default=2304)
    parser.add_argument("--tiles", default="2x2", help="down x along")
    parser.add_argument("--pixels", default="3585x3585", help="valid width x height")
    parser.add_argument("--template", type=int, default=512)
    parser.add_argument("--in-pass", type=int, default=32, help="transforms of one pass")
    parser.add_argument("--chunks-first", action="store_true",
                        help="the blocks of correlate_columns go over chunks, then transforms")
    parser.add_argument("--in-two", action="store_true", help="columns by correlate_columns_in_two")
    parser.add_argument("--device", choices=sorted(DEVICES), action="append")
    parser.add_argument("--cuobjdump", default="cuobjdump")
    o = parser.parse_args()
    width, height = (int(x) for x in o.pixels.split("x"))
    down, along = (int(x) for x in o.tiles.split("x"))
    search = Search(o.template, o.length, down, along, width, height, o.in_pass,
                    not o.chunks_first)
    for path in o.objects:
        kernels = read_kernels(path, o.cuobjdump)
        key = next(s for s in STORAGES if any(s in name for name in kernels))
        for device in o.device or sorted(DEVICES):
            print_table(*measure(kernels, search, key), device, o.in_two)


if __name__ == "__main__":
    main()
