"""Reads a peak list as Leopard-EM's refine_template does: the table, its poses, the cut-out boxes.

usage: read_peaks.py PEAKS.csv TEMPLATE_SIZE EXPECTED_PARTICLES
"""
import sys

import torch
from leopard_em.pydantic_models.data_structures import ParticleStack
from leopard_em.pydantic_models.formats import MATCH_TEMPLATE_DF_COLUMN_ORDER

path, size, expected = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
box = size + 16
stack = ParticleStack(
    df_path=path, extracted_box_size=(box, box), original_template_size=(size, size)
)
columns = [name for name in stack.df_columns if not name.startswith("Unnamed")]
assert columns == MATCH_TEMPLATE_DF_COLUMN_ORDER, f"columns or their order differ: {columns}"
assert stack.num_particles == expected, f"{stack.num_particles} particles, {expected} expected"

angles = stack.get_euler_angles(prefer_refined_angles=False)
assert angles.shape == (expected, 3) and bool(torch.isfinite(angles).all()), angles
defocus_u, defocus_v = stack.get_absolute_defocus(prefer_refined_defocus=False)
assert bool((defocus_u >= defocus_v).all()), (defocus_u, defocus_v)
images, indices = stack.load_images_grouped_by_column("micrograph_path")
boxes = stack.construct_image_stack(images, indices, extraction_size=(box, box))
assert boxes.shape == (expected, box, box) and bool(torch.isfinite(boxes).all()), boxes.shape
print(f"Leopard-EM's ParticleStack reads {expected} particles of {path}")
