"""Tests for the diagram that shows which numbers a norm averages over."""

from io import BytesIO

import numpy as np
import torch
from PIL import Image
from torch import Tensor, nn
from torch.nn import functional as F

from transformer_course.diagrams.elements import GRAY
from transformer_course.diagrams.normalization import blocks, reach


def layer_norm(x: Tensor) -> Tensor:
    return F.layer_norm(x, x.shape[-1:])


def batch_norm(x: Tensor) -> Tensor:
    return nn.BatchNorm1d(x.shape[-1])(x.flatten(0, 1)).view(x.shape)


def n_dark(norm) -> int:
    return sum(shape.color == GRAY for shape in blocks({"norm": norm}).elements if hasattr(shape, "opacity"))


def test_layer_norm_reads_vectors_and_batch_norm_features():
    expected = torch.zeros(3, 5, 7, dtype=torch.bool)
    expected[0, 1] = True
    assert torch.equal(reach(layer_norm, 3, 5, 7), expected)
    expected = torch.zeros(3, 5, 7, dtype=torch.bool)
    expected[..., -1] = True
    assert torch.equal(reach(batch_norm, 3, 5, 7), expected)


def test_dark_face_counts_match_the_dependencies():
    assert n_dark(layer_norm) == 5 + 1  # the row on the front, and the face of its last number on the right side
    assert n_dark(batch_norm) == 4 + 4 * 3 + 3  # the front, the side and the top
    assert n_dark(lambda x: x + 1) == 1 + 1


def test_dot_is_visible_on_its_dark_face():
    with_dot, without = (blocks({"LayerNorm": layer_norm}) for _ in range(2))
    without.elements = [element for element in without.elements if not getattr(element, "radius", 0)]
    pictures = [Image.open(BytesIO(d.png())).convert("RGBA").convert("L") for d in (with_dot, without)]
    lightness = [np.asarray(picture, dtype=int) for picture in pictures]
    assert (lightness[0] - lightness[1] > 80).sum() > 50  # the dot makes these pixels lighter
