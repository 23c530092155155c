"""Tests for the patches and the order of modules in the diagram of a vision transformer."""

import torch

from transformer_course.diagrams.canvas import Diagram
from transformer_course.diagrams.patches import vision_transformer


def fill_color(value: float) -> str:
    return Diagram("").cells([[""]], (0, 0), fill=[[value]]).colors[0][0]


def test_every_pixel_is_in_its_patch() -> None:
    image = torch.rand(6, 9)
    d = vision_transformer(image, patch=3, d_model=5, n_layers=2)
    cut = image.unfold(0, 3, 3).unfold(1, 3, 3).flatten(0, 1)  # in row order, like the tokens
    assert len(d.tables) == len(cut) == 6
    for table, patch in zip(d.tables, cut.tolist(), strict=True):
        assert [list(row) for row in table.colors] == [[fill_color(pixel) for pixel in row] for row in patch]
    positions = [(-table.y, table.x) for table in d.tables]
    assert positions == sorted(positions)


def test_positions_are_added_to_patches_before_the_layers() -> None:
    d = vision_transformer(torch.rand(16, 16), patch=4, d_model=48, n_layers=2)
    assert d.links() == {
        ("patches", "+"),
        ("positions", "+"),
        ("+", "layers"),
        ("layers", "mean"),
        ("mean", "output"),
    }
    assert {box.note for box in d.boxes} > {"Linear(16, 48)", "EncoderLayer × 2", "Linear(48, 10)", "(16, 48)"}
