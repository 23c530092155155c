"""Tests that the drawing of the whole Transformer matches the library, and that the map matches the lesson."""

import inspect
import re

import pytest
import torch

import transformer_lab
from transformer_course.diagrams.architecture import LESSON_OF_PART, transformer, you_are_here
from transformer_course.diagrams.data_flow import flow_of
from transformer_lab.attention import masks
from transformer_lab.layers.decoder_layer import DecoderLayer
from transformer_lab.layers.encoder_layer import EncoderLayer
from transformer_lab.models.transformer import Transformer
from transformer_lab.models.transformer_config import TransformerConfig

NARROW_CELL_PX = 900
"""Width of an output area in JupyterLab when the window is 1,200 pixels wide and the sidebar is closed."""


def arrows_of(module: torch.nn.Module) -> set[tuple[str, str]]:
    flow = flow_of(module)
    return {(flow.steps[i].name, step.name) for step in flow.steps for _, i in step.reads}


def test_arrows_within_a_layer_match_the_library():
    drawn = transformer().links()
    parts = {"self_attention", "cross_attention", "feed_forward", "norm_1", "norm_2", "norm_3", "memory", "+"}
    inside = {link for link in drawn if set(link) <= parts | {"mask", "memory_mask"}} - {("norm_2", "memory")}
    # in the picture, the layers' input is the sum of embeddings and positions
    layers = arrows_of(EncoderLayer(8, 2, 16)) | arrows_of(DecoderLayer(8, 2, 16))
    assert inside == {("+" if tail == "x" else tail, head) for tail, head in layers}


def test_box_names_match_the_code():
    model = Transformer(TransformerConfig(vocab_size=11, d_model=8, n_heads=2, d_ff=16, n_layers=1))
    attributes = {part for name, _ in (*model.named_modules(), *model.named_buffers()) for part in name.split(".")}
    layers = (EncoderLayer, DecoderLayer)
    arguments = {name for layer in (*layers, Transformer) for name in inspect.signature(layer.forward).parameters}
    functions = {"padding_mask", "decoder_mask"} & set(vars(masks)) | {"sinusoidal_encoding"}
    known = attributes | arguments | functions | set(transformer_lab.__all__)
    in_lessons = {"labels", "shift_right", "logits", "embedding.weight.T", "+"}
    d = transformer()
    assert {box.name for box in d.boxes} <= known | in_lessons
    assert {frame.name.split()[0] for frame in d.frames} <= known
    notes = {box.note for box in d.boxes if re.fullmatch(r"[A-Za-z_]+", box.note)}
    assert notes - {"tied"} <= known


@pytest.mark.parametrize("lesson", range(9))
def test_map_distinguishes_finished_current_and_later_parts(lesson):
    d = you_are_here(lesson)
    looks = {"filled": set(), "highlighted": set(), "dimmed": set()}
    for box in d.boxes:
        if box.name:
            looks[box.look].add(box.name)
    states = {"filled": range(lesson), "highlighted": [lesson], "dimmed": range(lesson + 1, 9)}
    for look, lessons in states.items():
        inside = {name.split(".")[-1] for name, home in LESSON_OF_PART.items() if home in lessons}
        assert looks[look] <= inside
        assert inside <= {box.name for box in d.boxes} | {frame.name for frame in d.frames}
    assert bool(looks["highlighted"]) == (lesson > 0)  # lesson 00 builds no part of the Transformer
    assert {frame.name for frame in d.frames if not frame.dashed} == {
        name for name, home in LESSON_OF_PART.items() if home <= lesson and name in {frame.name for frame in d.frames}
    }


@pytest.mark.parametrize("lesson", [1, 6, 8])
def test_map_routes_stream_around_sublayers_into_next_norm(lesson):
    d = you_are_here(lesson)
    around = [arrow for arrow in d.arrows if arrow.thick]
    assert [arrow.points[-1].of for arrow in around] == ["norm_1", "norm_2", "norm_1", "norm_2", "norm_3"]
    sublayers = [box for box in d.boxes if box.name in ("self_attention", "cross_attention", "feed_forward")]
    for arrow, box in zip(around, sublayers, strict=True):
        assert arrow.points[0].x < box.rect.x0 < box.rect.x1 < arrow.points[-1].x
        assert arrow.points[1].y < box.rect.y0
    assert {"3 mars 2021", "2021-03-03"} <= {label.words for label in d.labels}
    assert {("logits", "greedy_decode"), ("logits", "training")} <= set(d.links())


def test_map_text_is_at_least_twelve_pixels_high():
    d = you_are_here(3)
    [size] = {box.size for box in d.boxes if box.name}
    _, metadata = d._repr_mimebundle_()
    width_px = min(metadata["image/png"]["width"], NARROW_CELL_PX)
    x0, _, x1, _ = d.extent
    assert size / 72 * width_px / (x1 - x0) >= 12
