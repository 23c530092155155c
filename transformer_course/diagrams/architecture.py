"""Draw the whole Transformer, as one picture or as a map that highlights the parts a lesson builds.

Boxes are named after the classes, arguments and attributes that a learner writes. The layers are post-norm, as in
Vaswani et al. (2017), arXiv:1706.03762. The layers' arrows match ``layers.layer``, which draws a layer from its code.
"""

from collections.abc import Sequence

from transformer_course.diagrams.canvas import Diagram
from transformer_course.diagrams.elements import (
    BLUE,
    FONT_SIZE_PT,
    GRAY,
    GREEN,
    INK,
    ORANGE,
    PINK,
    Area,
    Box,
    Look,
    Spot,
    text_width,
)

BETWEEN_STREAM_AND_SUBLAYER = 1.25
BETWEEN_SUBLAYER_AND_MASK = 1.6


def transformer() -> Diagram:
    """Draw the whole Transformer, with the shapes for one sentence, ``3 mars 2021<eos>``, and its ISO 8601 date."""
    d_model = 64
    d = Diagram(
        "The whole Transformer, from the bottom to the top. Left, the encoder: embedding and positions are added, then "
        "come N layers of self-attention and feed-forward network, each added to the stream and normalized. What its "
        "last layer returns is the memory. Right, the decoder: the same, with a cross-attention to the memory between "
        "the two in each of its N layers. Its output times the embedding matrix gives the logits."
    )
    source = d.box("source", (0, 0), outline="square", look="outlined", note="3 mars 2021<eos>")
    layers, top = _stack(d, source, ("self_attention", "feed_forward"), "EncoderLayer", 12, d_model)
    memory = d.box("memory", (0, top.y + 1.0), ORANGE, outline="square", note=f"(1, 12, {d_model})")
    d.path([top, memory.bottom], thick=True)
    _mask(d, layers["self_attention"], "mask", "padding_mask")

    x = 4.5
    labels = d.box("labels", (x - 3.1, 0), outline="square", look="outlined", note="2021-03-03<eos>")
    shift = d.box("shift_right", (x - 1.5, 0))
    target = d.box("target", (x, 0), outline="square", look="outlined", note="<bos>2021-03-03")
    d.arrow(labels, shift)
    d.arrow(shift, target)
    sublayers = ("self_attention", "cross_attention", "feed_forward")
    layers, top = _stack(d, target, sublayers, "DecoderLayer", 11, d_model)
    _mask(d, layers["self_attention"], "mask", "decoder_mask")
    cross = layers["cross_attention"]
    _mask(d, cross, "memory_mask", "padding_mask", lower=0.3)
    lane, entry = 1.03, cross.spot(0, 0.78)
    d.path([memory.right, (lane, memory.y), (lane, entry.y), entry], color=ORANGE)
    d.text("key, value", (cross.left.x - 0.62, entry.y + 0.1), size=FONT_SIZE_PT - 2)
    output = d.box("embedding.weight.T", (x, top.y + 1.15), PINK, note="tied")
    d.path([top, output.bottom], thick=True)
    d.text(f"(1, 11, {d_model})", (x + 0.12, top.y + 0.7), size=FONT_SIZE_PT - 1.5, align="left")
    logits = d.box("logits", (x, output.y + 0.95), outline="square", look="outlined", note="(1, 11, vocab_size)")
    d.arrow(output, logits)
    inside = [frame for frame in d.frames if frame.name in ("Encoder", "Decoder")]
    masks = [box for box in d.boxes if "mask" in box.name]
    d.frame("Transformer", [*inside, *masks, memory, output], dashed=True)
    return d


def _stack(
    d: Diagram, tokens: Box, sublayers: Sequence[str], name: str, n: int, d_model: int
) -> tuple[dict[str, Box], Spot]:
    """Draw the encoder or the decoder above its tokens; return its sublayers and the upper end of the stream."""
    x = tokens.x
    left = x - BETWEEN_STREAM_AND_SUBLAYER
    embedding = d.box("embedding", (x, 0.95), PINK)
    d.arrow(tokens, embedding, f"(1, {n})", label_at=0.3)
    plus = d.plus((x, 1.6))
    d.arrow(embedding, plus, thick=True)
    d.text("× √d_model", (x + 0.16, 1.32), size=FONT_SIZE_PT - 1.5, align="left")
    positions = d.box("positions", (left, 1.6), PINK, note="sinusoidal_encoding")
    d.arrow(positions, plus)
    d.text(f"(1, {n}, {d_model})", (x + 0.12, 1.86), size=FONT_SIZE_PT - 1.5, align="left")
    below, inside = plus, list[Area]()
    drawn: dict[str, Box] = {}
    y = 2.15
    for i, sublayer in enumerate(sublayers, start=1):
        color, note = (GREEN, "FeedForward") if sublayer == "feed_forward" else (BLUE, "MultiHeadAttention")
        box = d.box(sublayer, (left, y + 0.45), color, note=note, height=0.46)
        plus = d.plus((x, y + 0.84))
        norm = d.box(f"norm_{i}", (x, y + 1.3))
        d.path([Spot(x, y, below.name), (left, y), box.bottom])
        d.path([below.top, plus.bottom], thick=True)
        d.path([box.top, (left, plus.y), plus.left])
        d.arrow(plus, norm, thick=True)
        if note == "MultiHeadAttention":
            d.text("query" if sublayer[0] == "c" else "query, key, value", (x - 0.62, y + 0.09), size=FONT_SIZE_PT - 2)
        drawn[sublayer] = box
        inside += [box, norm]
        below, y = norm, norm.rect.y1 + 0.18
    edges = [Box("", x + 0.1, 2.08, 1.2, 0, GRAY, "outlined", "", FONT_SIZE_PT, "square"), *inside]
    layer = d.frame(f"{name}  × N", edges, pad=0.1)
    d.frame(name.removesuffix("Layer"), [layer, embedding, positions], pad=0.12)
    return drawn, below.top


def _mask(d: Diagram, sublayer: Area, name: str, made_by: str, lower: float = 0.0) -> None:
    """Draw a mask to the left of a sublayer."""
    entry = sublayer.spot(0, 0.25 if lower else 0.5)
    box = d.box(name, (sublayer.x - BETWEEN_SUBLAYER_AND_MASK, entry.y - lower), outline="square", note=made_by)
    d.path([box.right, (entry.x - 0.18, box.y), (entry.x - 0.18, entry.y), entry])


FIRST_LESSON, LAST_LESSON = 0, 8
SMALL_FONT_PT = 9
LESSON_OF_PART = {
    "scores": 1,
    "softmax": 1,
    "@ v": 1,
    "/ √d_k": 2,
    **dict.fromkeys(("w_q, w_k, w_v", "split_heads", "merge_heads", "w_o", "MultiHeadAttention"), 3),
    "mask": 4,
    "positions": 5,
    **dict.fromkeys(("encoder.embedding", "encoder.self_attention", "encoder.norm_1", "encoder.feed_forward"), 6),
    **dict.fromkeys(("encoder.norm_2", "memory", "EncoderLayer × N", "Encoder"), 6),
    **dict.fromkeys(("shift_right", "decoder.embedding", "decoder.self_attention", "decoder.norm_1"), 7),
    **dict.fromkeys(("cross_attention", "decoder.norm_2", "decoder.feed_forward", "norm_3"), 7),
    **dict.fromkeys(("DecoderLayer × N", "Decoder"), 7),
    **dict.fromkeys(("logits", "training", "greedy_decode", "Transformer"), 8),
}
"""The lesson that builds each box and frame of the thumbnail."""
TITLES = {
    0: "before attention",
    1: "attention",
    2: "scaling",
    3: "heads",
    4: "masks",
    5: "positions",
    6: "the encoder",
    7: "the decoder",
    8: "training",
}


def you_are_here(lesson: int) -> Diagram:
    """Draw the whole Transformer as a wide thumbnail that shows which parts are finished, new, and still to come.

    Args:
        lesson: The number of the lesson, from 0 to 8.

    Raises:
        ValueError: ``lesson`` is out of range.
    """
    if lesson not in TITLES:
        raise ValueError(f"lesson must be from {FIRST_LESSON} to {LAST_LESSON}; got {lesson}")
    d, _ = thumbnail(lesson)
    x0, y0, _, _ = d.extent
    swatches: dict[str, Look] = {"this lesson": "highlighted", "finished": "filled", "to come": "dimmed"}
    for i, (words, look) in enumerate(swatches.items()):
        x = x0 + 0.15 + 1.2 * i
        d.box("", (x, y0 - 0.17), look=look, width=0.26, height=0.15)
        d.text(words, (x + 0.2, y0 - 0.17), size=SMALL_FONT_PT, align="left")
    d.text(
        "thick lines: a sublayer's input, added to its output", (x0 + 4.4, y0 - 0.17), size=SMALL_FONT_PT, align="left"
    )
    return d


def thumbnail(lesson: int) -> tuple[Diagram, dict[Area, int]]:
    """Draw the thumbnail for a lesson; also return the number of the lesson that builds each box and frame.

    Args:
        lesson: The number of the lesson, from 0 to 8.
    """
    d = Diagram(_where(lesson), lists=False)
    drawn = _Thumbnail(d, lesson)
    drawn.frame("Transformer", drawn.draw())
    return d, drawn.homes


def _where(lesson: int) -> str:
    """Return sentences about the finished parts, the parts of this lesson, and the parts to come."""
    lines = [f"Where lesson {lesson}, {TITLES[lesson]}, is in the whole Transformer."]
    for state, lessons in (
        ("Finished", range(FIRST_LESSON, lesson)),
        ("In this lesson", [lesson]),
        ("To come", range(lesson + 1, LAST_LESSON + 1)),
    ):
        names = [name for name, home in LESSON_OF_PART.items() if home in lessons]
        lines.append(f"{state}: {', '.join(names) or 'nothing'}.")
    return "\n".join(lines)


class _Thumbnail:
    """The drawing of a lesson's thumbnail."""

    def __init__(self, d: Diagram, lesson: int) -> None:
        self.d = d
        self.lesson = lesson
        self.homes: dict[Area, int] = {}

    def box(self, name: str, x: float, y: float, color: str) -> Box:
        """Draw a box whose left side is at x."""
        home, words = LESSON_OF_PART[name], name.rsplit(".", 1)[-1]
        look: Look = "filled" if home < self.lesson else "highlighted" if home == self.lesson else "dimmed"
        width = text_width(words, SMALL_FONT_PT) + 0.12
        box = self.d.box(words, (x + width / 2, y), color, look, size=SMALL_FONT_PT, height=0.26, width=width)
        self.homes[box] = home
        return box

    def row(self, x: float, y: float, names: Sequence[tuple[str, str]], gap: float = 0.15) -> list[Box]:
        """Draw a row of boxes with arrows between them."""
        boxes: list[Box] = []
        for name, color in names:
            box = self.box(name, x, y, color)
            if boxes:
                self.d.arrow(boxes[-1], box)
            boxes.append(box)
            x = box.rect.x1 + gap
        return boxes

    def stream(self, layer: Sequence[Box]) -> list[Area]:
        """Draw the residual stream of a layer, around each sublayer and into the next norm.

        Returns:
            Two points below the layer, so that its frame includes the stream.
        """
        for sublayer, norm in zip(layer[::2], layer[1::2], strict=True):
            before, below = sublayer.rect.x0 - 0.1, sublayer.rect.y0 - 0.12
            color = INK if self.homes[norm] <= self.lesson else GRAY
            points: list[tuple[float, float] | Spot] = [
                Spot(before, sublayer.y),
                (before, below),
                (norm.x, below),
                norm.bottom,
            ]
            self.d.path(points, head=False, color=color, thick=True)
            self.d.text("+", (norm.x + 0.09, below + 0.06), color=color, size=SMALL_FONT_PT, bold=True)
        x0, x1 = layer[0].rect.x0 - 0.1, layer[-1].rect.x1
        return [Box("", x, below, 0, 0, GRAY, "outlined", "", FONT_SIZE_PT, "square") for x in (x0, x1)]

    def tokens(self, text: str, into: Box) -> None:
        """Write an input text to the left of the box that reads it."""
        x = into.rect.x0 - 0.2
        self.d.text(text, (x, into.y), size=SMALL_FONT_PT, align="right")
        self.d.path([Spot(x + 0.03, into.y), into.left])

    def frame(self, name: str, around: Sequence[Area], pad: float = 0.1) -> Area:
        """Draw a frame around boxes, dashed and gray if a later lesson builds it."""
        home = LESSON_OF_PART[name]
        color = INK if home <= self.lesson else GRAY
        frame = self.d.frame(name, around, color, home > self.lesson, pad, SMALL_FONT_PT + 0.5)
        self.homes[frame] = home
        return frame

    def draw(self) -> list[Area]:
        """Draw the encoder, the decoder and the inside of attention; return the outermost elements."""
        d, encoder, decoder, attention = self.d, 2.62, 1.1, -0.05
        shift = self.box("shift_right", 0.0, decoder + 0.88, GRAY)
        reading = self.row(shift.rect.x1 + 0.3, encoder, [("encoder.embedding", PINK), ("positions", PINK)])
        layer = [("encoder.self_attention", BLUE), ("encoder.norm_1", GRAY), ("encoder.feed_forward", GREEN)]
        upper = self.row(reading[-1].rect.x1 + 0.34, encoder, [*layer, ("encoder.norm_2", GRAY)], 0.2)
        writing = self.row(shift.rect.x0, decoder, [("decoder.embedding", PINK), ("positions", PINK)])
        layer = [("decoder.self_attention", BLUE), ("decoder.norm_1", GRAY), ("cross_attention", BLUE)]
        layer += [("decoder.norm_2", GRAY), ("decoder.feed_forward", GREEN), ("norm_3", GRAY)]
        lower = self.row(writing[-1].rect.x1 + 0.34, decoder, layer, 0.2)
        beside_name = shift.rect.x1 - 0.06
        d.path([Spot(beside_name, shift.rect.y0, shift.name), Spot(beside_name, writing[0].rect.y1, writing[0].name)])
        d.arrow(reading[-1], upper[0])
        d.arrow(writing[-1], lower[0])
        around = [*self.stream(upper), *self.stream(lower)]
        layers = [
            self.frame("EncoderLayer × N", [*upper, *around[:2]]),
            self.frame("DecoderLayer × N", [*lower, *around[2:]]),
        ]
        halves = [
            self.frame("Encoder", [*reading, layers[0]], 0.06),
            self.frame("Decoder", [*writing, layers[1]], 0.06),
        ]
        memory = self.box("memory", halves[0].rect.x1 + 0.2, encoder, ORANGE)
        d.arrow(upper[-1], memory)
        cross, lane = lower[2], (halves[0].rect.y0 + halves[1].rect.y1) / 2
        d.path([memory.bottom, (memory.x, lane), (cross.x, lane), cross.top], color=ORANGE)
        logits = self.box("logits", halves[1].rect.x1 + 0.25, decoder, GRAY)
        d.arrow(lower[-1], logits)
        training = self.box("training", memory.rect.x1 + 0.08, encoder, GRAY)
        generate = self.box("greedy_decode", memory.rect.x1 - 0.22, encoder + 0.36, GRAY)
        x = logits.rect.x0 + 0.06
        d.path([Spot(x, logits.rect.y1, logits.name), Spot(x, training.rect.y0, training.name)])
        beside_training = training.rect.x1 + 0.1
        d.path(
            [Spot(beside_training, logits.rect.y1, logits.name), Spot(beside_training, generate.rect.y0, generate.name)]
        )
        self.tokens("3 mars 2021", reading[0])
        d.text("2021-03-03", (shift.x, shift.y + 0.32), size=SMALL_FONT_PT)
        d.path([Spot(shift.x, shift.rect.y1 + 0.12), shift.top])
        names = ("w_q, w_k, w_v", "split_heads", "scores", "/ √d_k", "mask", "softmax", "@ v", "merge_heads", "w_o")
        inside = self.frame(
            "MultiHeadAttention", self.row(writing[0].rect.x0, attention, [(name, BLUE) for name in names])
        )
        words = "inside each\nself_attention and\ncross_attention"
        d.text(words, (inside.rect.x1 + 0.1, attention), size=SMALL_FONT_PT, align="left")
        return [*halves, memory, logits, training, generate, shift, inside]
