"""Tests that every diagram in the lessons is legible and validates its arguments. nbval compares the content of each
diagram, because the text of the cell's output is the alternative text, which lists all boxes, tables and arrows. This
text omits positions and colors, the lists of diagrams with ``lists=False``, and modules that no lesson draws. The tests
of individual topics cover these.
"""

import re
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from transformer_course import diagrams
from transformer_lab.attention.masks import causal_mask, padding_mask
from transformer_lab.attention.multi_head import MultiHeadAttention
from transformer_lab.layers.decoder_layer import DecoderLayer
from transformer_lab.layers.encoder_layer import EncoderLayer, PreNormEncoderLayer
from transformer_lab.models.transformer import Transformer
from transformer_lab.models.transformer_config import TransformerConfig

LESSONS = Path(__file__).parents[3] / "notebooks" / "source"
DATE, ISO = "3 mars 2021", "2021-03-03"
TOKENS, FOLLOWING = ["<bos>", "Return", " the"], ["Return", " the", " documentation"]
PADDED = torch.tensor([[1, 2, 3, 0], [0, 1, 2, 3]])
PAIR = torch.tensor([2.0, 1.0]), torch.tensor([[2.5, 0.5], [0.3, 1.5]])
TABLES = torch.randn(2, 5), torch.randn(3, 5), torch.randn(3, 4)
TRANSLATOR = Transformer(TransformerConfig(11, d_model=8, n_heads=2, d_ff=16, n_layers=2))
TEXTS = torch.tensor([[3, 4, 5, 6]]), torch.tensor([[1, 4, 4]])

DRAWN: dict[str, list[tuple[Any, ...]]] = {
    "architecture.transformer": [()],
    "architecture.you_are_here": [(lesson,) for lesson in range(9)],
    "byte_pairs.merged": [("abracadabra", [(97, 98), (114, 97), (256, 257)]), ("a é", [(32, 195)])],
    "data_parallel.step": [(2,), (4,)],
    "data_parallel.ring": [(2,), (4,)],
    "data_parallel.zero": [(2,), (4,)],
    "diagnosis.instruments": [()],
    "diagnosis.first_measurements": [()],
    "heads.multi_head": [(MultiHeadAttention(*sizes),) for sizes in ((128, 4), (6, 1), (512, 8))],
    "batching.timeline": [([3, 8, 2, 5, 4, 2], 3), ([1], 2)],
    "kv_cache.steps": [(["<bos>", *"Retu"], n_prompt) for n_prompt in (1, 4)],
    "kv_cache.drafts": [("Ge", [("nure", 1, "e"), ("rate", 4, "d")])],
    "kv_cache.shared_heads": [(6, [6, 3, 2, 1])],
    "kv_cache.pages": [((6, 3), 8, 2), ((5, 1, 4), 5, 3)],
    "language_model.stripped": [()],
    "language_model.gpt": [(TOKENS, FOLLOWING, 4, ["0.10", "0.35", "0.01"])],
    "language_model.induction": [(("7", "C", "4", "9", "7"),), (("x", "y", "x"),)],
    "language_model.losses": [(["so", "this", "one", "."], ["what", "?"], ["this", "one", "."], ["that", "."])],
    "layers.layer": [(DecoderLayer(8, 2, 16),), (nn.ReLU(), torch.ones(1, 2, 3))],
    "layers.layers": [(EncoderLayer(8, 2, 16), PreNormEncoderLayer(8, 2, 16))],
    "lookup.arrows": [(*PAIR, "fruit", ["apple", "pear"], ("edible", "round"))],
    "lookup.moved": [("bank", PAIR[0], {"a": PAIR[1][0], "b": PAIR[1][1]}, {"river": PAIR[1][0]}, ("money", "water"))],
    "lookup.one_head": [(*TABLES, ["one", "two"], ["a", "b", "c"], divisor) for divisor in (1.0, 5**0.5)],
    "masks.masked_softmax": [(torch.randn(4, 4), causal_mask(4), [*TOKENS, "you"], [*TOKENS, "you"])],
    "masks.broadcast": [
        (padding_mask(PADDED, 0), causal_mask(4), [["a", "b", "c", "<pad>"], ["<pad>", "a", "b", "c"]])
    ],
    "memory.memory_of": [(TRANSLATOR, *TEXTS)],
    "modern_block.blocks": [()],
    "modern_block.gated": [()],
    "modern_block.latent": [()],
    "modern_block.rotary_pairs": [()],
    "modern_block.experts": [()],
    "modern_block.low_rank": [()],
    "normalization.blocks": [({"LayerNorm": nn.LayerNorm(5), "twice": lambda x: 2 * x},)],
    "number_formats.bits": [(), ({"int3": (1, 0, 2)},)],
    "online_softmax.blocks": [
        ([1.0, 3.0, 2.0, 5.0, 4.0, 0.0, -2.0], [10.0, 0.0, 30.0, 5.0, 20.0, 50.0, 1.0], block) for block in (1, 3, 7)
    ],
    "patches.vision_transformer": [(torch.rand(16, 16), 4, 48, 2), (torch.rand(6, 9), 3, 5, 2)],
    "pipeline.schedule": [(torch.tensor([[1, 2, 0, -1, 0, -2], [0, 1, -1, 2, -2, 0]]),)],
    "positions.clocks": [([0, 1, 2, 3, 44], 8)],
    "positions.rotary_hands": [([(2, 0), (7, 5)],), ([(2, 0), (4, 2), (7, 5), (8, 5)], (1.0,))],
    "positions.schemes": [()],
    "post_training.group": [(f"?{DATE}>", [ISO, "2021"], [1.0, 0.0], [1.0, -1.0])],
    "post_training.pipeline": [()],
    "recurrent.gradient_paths": [(40,), (4,)],
    "recurrent.unrolled": [(DATE, ISO)],
    "recurrent.with_attention": [("3 mai", "05-03", torch.tensor([0.1, 0.0, 0.2, 0.3, 0.4]), 2)],
    "teacher_forcing.beside_generation": [([*"2021-"],), ([*ISO], 5), (["<eos>"], 1)],
    "teacher_forcing.rows": [(["<bos>", *ISO], [*ISO, "<eos>"]), (list(ISO), list(ISO))],
    "tensor_parallel.feed_forward": [(2,), (3,)],
}
"""Arguments for each diagram, taken from a lesson or chosen at the limits of what the diagram can show."""

REJECTED = [
    ("architecture.you_are_here", (9,), "from 0 to 8; got 9"),
    ("byte_pairs.merged", ("", []), "must not be empty"),
    ("data_parallel.step", (1,), "n_processes must be at least 2; got 1"),
    ("data_parallel.ring", (1,), "n_processes must be at least 2; got 1"),
    ("data_parallel.zero", (1,), "n_processes must be at least 2; got 1"),
    ("batching.timeline", ([3, 0], 2), r"got n_slots=2, lengths=\[3, 0\]"),
    ("online_softmax.blocks", ([1.0], [1.0, 2.0], 1), "got 1 scores and 2 values"),
    ("kv_cache.steps", (TOKENS, 0), "n_prompt must be from 1 to 2 for 3 tokens; got 0"),
    ("kv_cache.shared_heads", (6, [6, 4]), "n_heads=6, n_kv_heads=4"),
    ("kv_cache.pages", ([3, 5], 4, 2), "at least the length of the longest text, 5 tokens; got 4"),
    ("language_model.gpt", (TOKENS, FOLLOWING[:2], 1), "got 3 tokens and 2 predictions"),
    ("language_model.induction", (("7", "C", "4"),), "got 7 C 4"),
    ("layers.layer", (nn.ReLU(),), "ReLU has no parameters"),
    ("lookup.arrows", (*PAIR, "q", ["a"], ("x", "y")), "got 2 keys and 1 names: a"),
    ("lookup.arrows", (torch.zeros(2), PAIR[1], "q", ["a", "b"], ("x", "y")), "the query must not be 0"),
    ("lookup.moved", ("bank", PAIR[0], {}, {}, ("x", "y")), "at least one text"),
    ("lookup.one_head", (*TABLES, ["one"], ["a", "b", "c"]), "one name for each of the 2 queries; got 1: one"),
    (
        "patches.vision_transformer",
        (torch.rand(16, 15), 5, 8, 1),
        "patches of 5 × 5 pixels do not tile an image of 16 × 15 pixels",
    ),
    ("pipeline.schedule", (torch.zeros(0, 3, dtype=torch.int64),), "n_stages=0, n_ticks=3"),
    ("post_training.group", ("prompt", ["a", "b"], [1.0], [0.0, 0.0]), "got 2 answers, 1 rewards and 2 advantages"),
    ("recurrent.gradient_paths", (3,), "at least 4; got n=3"),
    ("recurrent.unrolled", ("", "x"), "must not be empty"),
    ("recurrent.with_attention", ("ab", "xyz", torch.ones(3) / 3, 2), "one entry for each of the 2 characters; got 3"),
    ("recurrent.with_attention", ("abc", "xyz", torch.ones(3) / 3, 1), "between 2 and 3, .* got 1"),
    ("teacher_forcing.beside_generation", (["2", "0"], 3), "from 1 to 2, the number of tokens; got 3"),
    ("teacher_forcing.rows", (["<bos>", "2", "0"], ["2", "0"]), "got 3 inputs for 2 labels"),
    ("tensor_parallel.feed_forward", (4,), "n_devices must be 2 or 3; got 4"),
]


def draw(name: str, *arguments: Any) -> Any:
    topic, function = name.split(".")
    return getattr(getattr(diagrams, topic), function)(*arguments)


@pytest.mark.parametrize(("name", "arguments"), [(name, each) for name, calls in DRAWN.items() for each in calls])
def test_text_never_overlaps_or_leaves_its_box(name, arguments):
    assert draw(name, *arguments).flaws() == []


def test_tests_cover_every_diagram_in_the_lessons():
    used = {
        name
        for path in LESSONS.glob("*.py")
        for name in re.findall(r"\bdiagrams\.(\w+\.\w+)\(", path.read_text("utf-8"))
    }
    assert used - DRAWN.keys() == {"canvas.beside", "positions.heat_map"}


@pytest.mark.parametrize(("name", "arguments", "message"), REJECTED)
def test_rejects_invalid_arguments(name, arguments, message):
    with pytest.raises(ValueError, match=message):
        draw(name, *arguments)


def test_drawing_preserves_torch_random_state():
    module, state = MultiHeadAttention(8, 2), torch.get_rng_state()
    draw("heads.multi_head", module)
    assert torch.equal(torch.get_rng_state(), state)


def test_unknown_topic_error_lists_all_topics():
    with pytest.raises(AttributeError, match="no attribute 'layer'; the modules are alternative_text, architecture, "):
        diagrams.layer  # noqa: B018
