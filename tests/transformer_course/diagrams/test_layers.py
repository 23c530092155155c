"""Tests that a layer's drawing matches the code of its module."""

from itertools import pairwise

import pytest
import torch
from torch import Tensor, nn
from torch.testing import assert_close

from transformer_course.diagrams.canvas import Diagram
from transformer_course.diagrams.data_flow import flow_of
from transformer_course.diagrams.elements import BLUE, GREEN
from transformer_course.diagrams.layers import layer, layers
from transformer_lab.layers.decoder_layer import DecoderLayer, PreNormDecoderLayer
from transformer_lab.layers.encoder_layer import EncoderLayer, PreNormEncoderLayer


class Cut(EncoderLayer):
    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        x = self.norm_1(x)
        x = x + self.self_attention(x, x, x, mask)
        x = self.norm_2(x)
        return x + self.feed_forward(x)


class InPlace(EncoderLayer):
    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        y = self.norm_1(x)
        x += self.self_attention(y, y, y, mask)
        x += self.feed_forward(self.norm_2(x))
        return x


class QueryOnly(EncoderLayer):
    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        x = x + self.self_attention(self.norm_1(x), x, x, mask)
        return x + self.feed_forward(self.norm_2(x))


class Parallel(EncoderLayer):
    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        y = self.norm_1(x)
        return x + self.self_attention(y, y, y) + self.feed_forward(y)


class Halved(PreNormEncoderLayer):
    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        x = x + self.self_attention(x, x, x, mask)
        return x + 0.5 * self.feed_forward(self.norm_2(x))


class NoResiduals(EncoderLayer):
    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        return self.norm_2(self.feed_forward(self.norm_1(self.self_attention(x, x, x, mask))))


class FromBelow(EncoderLayer):
    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        y = self.norm_1(x + self.self_attention(x, x, x, mask))
        return self.norm_2(y + self.feed_forward(x))


class NormAfter(EncoderLayer):
    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        x = x + self.norm_1(self.self_attention(x, x, x, mask))
        return x + self.norm_2(self.feed_forward(x))


class OneNormTwice(EncoderLayer):
    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        x = self.norm_1(x + self.self_attention(x, x, x, mask))
        return self.norm_1(x + self.feed_forward(x))


class SwappedCross(DecoderLayer):
    def forward(self, x: Tensor, memory: Tensor, mask: Tensor | None = None, memory_mask: Tensor | None = None):
        x = self.norm_1(x + self.self_attention(x, x, x, memory_mask))
        return self.norm_2(x + self.cross_attention(memory, x, x))


class OffTheStream(DecoderLayer):
    def forward(self, x: Tensor, memory: Tensor, mask: Tensor | None = None, memory_mask: Tensor | None = None):
        written = self.norm_1(x + self.self_attention(x, x, x, mask))
        read = self.norm_2(written + self.cross_attention(written, memory, memory, memory_mask))
        return self.norm_3(written + self.feed_forward(read))


class InAList(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(8) for _ in range(2))
        self.linear = nn.Linear(8, 8)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.linear(self.norms[0](x))


def build(kind: type[nn.Module]) -> nn.Module:
    return kind(8, 2, 16)


POST = {
    *(("x", "self_attention"), ("x", "+"), ("self_attention", "+"), ("+", "norm_1"), ("norm_1", "feed_forward")),
    *(("norm_1", "+"), ("feed_forward", "+"), ("+", "norm_2"), ("norm_2", "output"), ("mask", "self_attention")),
}
PRE = {
    *(("x", "norm_1"), ("norm_1", "self_attention"), ("x", "+"), ("self_attention", "+"), ("+", "norm_2")),
    *(("norm_2", "feed_forward"), ("+", "+"), ("feed_forward", "+"), ("+", "output"), ("mask", "self_attention")),
}
CUT = {
    *(("x", "norm_1"), ("norm_1", "self_attention"), ("norm_1", "+"), ("self_attention", "+"), ("+", "norm_2")),
    *(("norm_2", "feed_forward"), ("norm_2", "+"), ("feed_forward", "+"), ("+", "output"), ("mask", "self_attention")),
}
AFTER = {
    *(("x", "self_attention"), ("self_attention", "norm_1"), ("x", "+"), ("norm_1", "+"), ("+", "feed_forward")),
    *(("feed_forward", "norm_2"), ("+", "+"), ("norm_2", "+"), ("+", "output"), ("mask", "self_attention")),
}
DECODER = POST - {("norm_1", "feed_forward"), ("norm_2", "output")} | {
    *(("norm_1", "cross_attention"), ("memory", "cross_attention"), ("memory_mask", "cross_attention")),
    *(("cross_attention", "+"), ("norm_2", "feed_forward"), ("norm_2", "+"), ("+", "norm_3"), ("norm_3", "output")),
}
KINDS = {
    EncoderLayer: (POST, "Post-norm: norm_1 and norm_2 normalize the sums."),
    PreNormEncoderLayer: (PRE, "Pre-norm: norm_1 and norm_2 normalize the inputs of the sublayers."),
    Cut: (CUT, "Cut: x goes on only through norm_1 and norm_2."),
    NormAfter: (AFTER, "Norm after the sublayer: norm_1 and norm_2 normalize what is added."),
    DecoderLayer: (DECODER, "Post-norm: norm_1, norm_2 and norm_3 normalize the sums."),
    InPlace: (PRE, "Pre-norm: norm_1 and norm_2 normalize the inputs of the sublayers."),
}
ALL = [*KINDS, PreNormDecoderLayer, QueryOnly, Parallel, Halved, NoResiduals, FromBelow, OneNormTwice, OffTheStream]


def texts(d: Diagram) -> str:
    return " ".join(" ".join(label.words.split()) for label in d.labels)


@pytest.mark.parametrize("kind", KINDS)
def test_arrows_match_the_code(kind):
    d, (links, verdict) = layer(build(kind)), KINDS[kind]
    assert d.links() == links
    assert verdict in texts(d)


def test_attention_arguments_are_labeled():
    d = layer(build(DecoderLayer))
    assert [label.words for label in d.labels if label.words in ("query, key, value", "query", "key, value")] == [
        "query, key, value",
        "query",
        "key, value",
    ]
    assert [(box.name, box.note) for box in d.boxes if box.outline == "square"] == [
        ("x", "(1, 7, 8)"),
        ("mask", ""),
        ("memory", "(1, 11, 8)"),
        ("memory_mask", ""),
    ]


def thick(d: Diagram) -> list[tuple[str, str]]:
    return [(arrow.points[0].of, arrow.points[-1].of) for arrow in d.arrows if arrow.thick]


def test_only_norms_interrupt_the_thick_stream():
    assert thick(layer(build(PreNormEncoderLayer))) == [("x", "+"), ("+", "+"), ("+", "output")]
    post = ["x", "+", "norm_1", "+", "norm_2", "output"]
    assert thick(layer(build(EncoderLayer))) == list(pairwise(post))
    assert thick(layer(build(NoResiduals))) == []
    d = layer(build(PreNormEncoderLayer))
    assert {x for arrow in d.arrows if arrow.thick for x, _, _ in arrow.points} == {0.0}


def test_marks_where_the_stream_is_cut():
    assert [label.words for label in layer(build(Cut)).labels].count("cut") == 2
    assert "cut" not in texts(layer(build(EncoderLayer))).split()


def test_shows_a_norm_applied_only_to_the_query():
    d = layer(build(QueryOnly))
    assert {("norm_1", "self_attention"), ("x", "self_attention")} <= d.links()
    assert "query" in texts(d)
    assert "key, value" in texts(d)


def test_shows_queries_from_memory_and_swapped_mask():
    x, memory = torch.randn(1, 5, 8), torch.randn(1, 5, 8)
    d = layer(build(SwappedCross), x, memory)
    assert "memory → cross_attention (query)" in repr(d)
    swapped = layer(build(SwappedCross), x, memory, torch.ones(5, 5).bool(), torch.eye(5).bool())
    assert ("memory_mask", "self_attention") in swapped.links()


def test_sublayer_may_read_an_earlier_stream_position():
    assert ("x", "feed_forward") in layer(build(FromBelow)).links()
    assert ("norm_1", "feed_forward") not in layer(build(FromBelow)).links()


def test_parallel_sublayers_share_one_sum():
    d = layer(build(Parallel))
    assert d.links() >= {("x", "+"), ("self_attention", "+"), ("feed_forward", "+"), ("norm_1", "feed_forward")}
    assert [box.name for box in d.boxes].count("+") == 1
    assert "norm_1 normalizes the inputs of the sublayers" in texts(d)
    assert "norm_2 is never called" in texts(d)
    assert "mask is never read" in texts(d)


def test_reports_tensor_with_unknown_origin():
    d = layer(build(Halved))
    assert "not found" in [box.name for box in d.boxes]
    assert ("not found", "output") in d.links()
    assert "feed_forward is called, but not found in the output" in texts(d)
    assert "norm_1 is never called" in texts(d)


def test_explains_sum_that_is_not_on_the_stream():
    message = "cross_attention(norm_1, memory, memory_mask) is added to what norm_2 reads, not to the residual stream"
    assert message in texts(layer(build(OffTheStream)))


def test_draws_repeated_norm_twice_and_reports_unused_norm():
    d = layer(build(OneNormTwice))
    assert [box.name for box in d.boxes].count("norm_1") == 2
    assert "norm_2 is never called" in texts(d)


def test_draws_parts_in_module_lists():
    d = layer(InAList())
    assert ("norms.0", "linear") in d.links()
    assert "norms.1 is never called" in texts(d)


@pytest.mark.parametrize("kind", ALL)
def test_every_drawing_is_legible(kind):
    assert layer(build(kind)).flaws() == []


@pytest.mark.parametrize("kind", ALL)
def test_every_step_is_drawn_or_described_in_text(kind):
    flow, d = flow_of(build(kind)), layer(build(kind))
    for step in flow.steps:
        assert step.name in texts(d)


def test_layers_share_a_baseline_and_omit_masks():
    d = layers(build(EncoderLayer), build(PreNormEncoderLayer))
    post, pre = sorted(d.frames, key=lambda frame: frame.x)
    assert (post.name, pre.name) == ("EncoderLayer", "PreNormEncoderLayer")
    assert post.rect.x1 < pre.rect.x0
    assert post.rect.y0 == pytest.approx(pre.rect.y0)
    assert d.links() == (POST | PRE) - {("mask", "self_attention")}
    assert "mask" not in texts(d)


def test_color_depends_on_kind_of_part():
    colors = {box.name: box.color for box in layer(build(EncoderLayer)).boxes}
    assert (colors["self_attention"], colors["feed_forward"]) == (BLUE, GREEN)


def test_drawing_preserves_module_and_random_state():
    module = build(EncoderLayer).train()
    before = {name: value.clone() for name, value in module.state_dict().items()}
    torch.manual_seed(3)
    expected = torch.rand(2)
    torch.manual_seed(3)
    first = repr(layer(module))
    assert_close(torch.rand(2), expected)
    assert module.training
    assert_close(module.state_dict(), before)
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in module.modules())
    torch.manual_seed(4)
    assert repr(layer(build(EncoderLayer))) == first


@pytest.mark.parametrize(("dropout", "labeled"), [(0.1, {"self_attention", "feed_forward"}), (0.0, set())])
def test_dropout_is_labeled_on_the_arrows_it_affects(dropout, labeled):
    d = layer(EncoderLayer(8, 2, 16, dropout=dropout))
    arrows = [arrow for arrow in d.arrows if arrow.label == "dropout"]
    assert {arrow.points[0].of for arrow in arrows} == labeled
    assert all(arrow.points[-1].of == "+" for arrow in arrows)
