#!/usr/bin/env python3
"""Cuts the windows, the crop and the list of counts out of the whole reference data.

usage: make_windows.py DATA MARGINS    (needs numpy and mrcfile; writes beside itself)

MARGINS holds CASE.npy for the unit cases: by how much the best correlation of each pixel exceeds
the runner-up, from a float64 model of the search. Where that is less than 1e-3 the pose is a tie.

Run by hand when the reference data changes; the tests read only what it wrote.
"""
import csv
import json
import pathlib
import sys

import mrcfile
import numpy as np

DATA = pathlib.Path(sys.argv[1])
MARGINS = pathlib.Path(sys.argv[2])
HERE = pathlib.Path(__file__).resolve().parent
MAPS = ["mip", "scaled_mip", "mean", "sd", "psi", "theta", "phi", "defocus"]
SIZE = 96
# The box of particle 2 of lsu512 has its corner at column 114, row 48 of the unit image's maps.
COLUMN, ROW = 66, 0
CROP_COLUMN, CROP_ROW, CROP_SIZE = 10, 250, 256
TEMPLATE = 128


def read(path):
    with mrcfile.open(path, permissive=True) as file:
        return file.data.astype(np.float32)


def write(path, data, pixel_size):
    with mrcfile.new(path, overwrite=True) as file:
        file.set_data(data)
        if data.ndim == 3:
            file.set_volume()
        file.voxel_size = pixel_size
        file.header.label[0] = b"Margay test data: see README.md"


def windows():
    rows = []
    for case in sorted(path.name for path in (DATA / "leopard-em").iterdir()):
        run = json.loads((DATA / "leopard-em" / case / "run.json").read_text())
        whole = not case.startswith("unit_") or case == "unit_peaks"
        rows.append([case, run["orientations"], run["planes"]] + (["", ""] if whole else [COLUMN, ROW]))
        margins = MARGINS / f"{case}.npy"
        if margins.exists():
            untied = (np.load(margins) > 1e-3).astype(np.int8)
            if not whole:
                untied = untied[ROW:ROW + SIZE, COLUMN:COLUMN + SIZE]
            write(HERE / "leopard-em" / case / "untied.mrc", untied, 2.0)
        if whole:
            continue
        stack = [read(DATA / "leopard-em" / case / f"{name}.mrc") for name in MAPS]
        cut = np.stack([m[ROW:ROW + SIZE, COLUMN:COLUMN + SIZE] for m in stack])
        write(HERE / "leopard-em" / case / "window.mrc", cut, 2.0)
    with open(HERE / "leopard-em" / "cases.csv", "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["case", "orientations", "planes", "window_column", "window_row"])
        writer.writerows(rows)


def crop():
    image = read(DATA / "lsu512_micrograph.mrc")
    write(HERE / "lsu_crop.mrc",
          image[CROP_ROW:CROP_ROW + CROP_SIZE, CROP_COLUMN:CROP_COLUMN + CROP_SIZE], 2.0)
    with open(DATA / "lsu512_truth.csv", newline="") as source:
        rows = list(csv.DictReader(source))
    half = TEMPLATE // 2
    with open(HERE / "lsu_crop_truth.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=rows[0].keys(), lineterminator="\n")
        writer.writeheader()
        for row in rows:
            x, y = float(row["x_px"]) - CROP_COLUMN, float(row["y_px"]) - CROP_ROW
            if half <= x <= CROP_SIZE - half and half <= y <= CROP_SIZE - half:
                writer.writerow({**row, "x_px": f"{x:.4f}", "y_px": f"{y:.4f}"})


windows()
crop()
