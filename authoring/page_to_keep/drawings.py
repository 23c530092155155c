"""Draw the original Transformer and a modern block, each for half a page.

The names match the code. The Transformer's layers are post-norm, as in Vaswani et al. (2017), arXiv:1706.03762.
"""

from collections.abc import Mapping
from itertools import pairwise

from transformer_course.diagrams.canvas import Diagram
from transformer_course.diagrams.elements import BLUE, GRAY, GREEN, ORANGE, PINK, Area, Box, Spot, text_width

NAME_FONT_PT, SHAPE_FONT_PT = 6.4, 5.6
"""Font sizes of box names and of the shapes on arrows, in points."""
BOX_HEIGHT = 0.19
BOX_GAP = 0.16
SUBLAYER_STEP = 0.66


def transformer() -> Diagram:
    """Draw the encoder and the decoder, with the shape of the tensor on each arrow."""
    d = Diagram("")
    source = _data(d, "source", (0, 0), "(b, n_source)")
    encoder = {"self_attention": "padding_mask", "feed_forward": ""}
    _, top = _stack(d, source, encoder, "EncoderLayer × N")
    memory = _box(d, "memory", (0, top + 0.42), ORANGE)
    d.path([(0, top), memory.bottom], thick=True, head=False)
    d.text("(b, n_source, d)", (-0.06, top + 0.17), size=SHAPE_FONT_PT, align="right")
    x = 2.45
    target = _data(d, "target", (x, 0), "(b, n_target)")
    labels = _data(d, "labels", (x - 1.12, 0), "")
    d.arrow(labels, target)
    d.text("shift_right", ((labels.right.x + target.left.x) / 2, 0.07), size=SHAPE_FONT_PT)
    decoder = {"self_attention": "decoder_mask", "cross_attention": "padding_mask", "feed_forward": ""}
    layers, top = _stack(d, target, decoder, "DecoderLayer × N")
    cross = layers["cross_attention"]
    lane, entry = cross.left.x - 0.6, cross.left
    d.path([memory.right, (lane, memory.y), (lane, entry.y), entry], color=ORANGE)
    d.text("key, value", (lane + 0.04, entry.y + 0.08), size=SHAPE_FONT_PT, align="left")
    output = _box(d, "embedding.weight.T", (x, top + 0.36), PINK)
    d.path([(x, top), output.bottom], thick=True, head=False)
    d.text("(b, n_target, d)", (x + 0.06, top + 0.14), size=SHAPE_FONT_PT, align="left")
    logits = _data(d, "logits", (x, output.y + 0.4), "(b, n_target, V)")
    d.arrow(output, logits)
    return d


def _stack(d: Diagram, tokens: Box, sublayers: Mapping[str, str], name: str) -> tuple[dict[str, Box], float]:
    """Draw the encoder or decoder above its tokens; return the sublayers and the y coordinate of the output.

    Args:
        d: The diagram.
        tokens: The box of the input tokens.
        sublayers: The sublayers of a layer, each with its mask or "".
        name: The label of the layer.
    """
    x = tokens.x
    left = x - 0.78
    embedding = _box(d, "embedding", (x, 0.42), PINK)
    d.arrow(tokens, embedding)
    plus = _plus(d, (x, 0.78))
    d.path([embedding.top, plus.bottom], thick=True, head=False)
    d.text("× √d", (x + 0.06, 0.6), size=SHAPE_FONT_PT, align="left")
    positions = _box(d, "positions", (left, plus.y), PINK)
    d.arrow(positions, plus)
    below: Area = plus
    inside: list[Area] = []
    drawn: dict[str, Box] = {}
    y = 1.02
    for i, (sublayer, mask) in enumerate(sublayers.items(), start=1):
        words = f"{sublayer}\n{mask}" if mask else sublayer
        color = BLUE if mask else GREEN
        box = d.box(words, (left, y + 0.21), color, size=NAME_FONT_PT, width=0.83, height=0.29 if mask else BOX_HEIGHT)
        plus = _plus(d, (x, box.y))
        norm = _box(d, f"norm_{i}", (x, y + 0.45))
        d.path([(x, y - 0.03), (left, y - 0.03), box.bottom])
        d.path([below.top, plus.bottom], thick=True, head=False)
        d.arrow(box, plus)
        d.path([plus.top, norm.bottom], thick=True, head=False)
        inside += [box, plus, norm]
        drawn[sublayer] = box
        below, y = norm, y + SUBLAYER_STEP
    d.text("(b, n, d)", (x + 0.12, 0.83), size=SHAPE_FONT_PT, align="left")
    inside.append(Area("", x + 0.2, 1.0, 0.45, 0.02))
    frame = d.frame(name, inside, pad=0.06, size=SHAPE_FONT_PT + 0.6)
    d.path([below.top, (x, frame.top.y)], thick=True, head=False)
    return drawn, frame.top.y


def inside_attention() -> Diagram:
    """Draw the steps of an attention layer from left to right, with the output shape of each step."""
    d = Diagram("")
    steps = [
        ("w_q, w_k, w_v", BLUE, "(b, n, d)"),
        ("split_heads", BLUE, "(b, h, n, d_k)"),
        ("q kᵀ / √d_k", BLUE, "(b, h, n_q, n_k)"),
        ("mask", GRAY, "(b, h, n_q, n_k)"),
        ("softmax", BLUE, "(b, h, n_q, n_k)"),
        ("· v", BLUE, "(b, h, n_q, d_k)"),
        ("merge_heads", BLUE, "(b, n_q, d)"),
        ("w_o", BLUE, "(b, n_q, d)"),
    ]
    boxes: list[Box] = []
    x = 0.0
    for name, color, shape in steps:
        half = max(text_width(name, NAME_FONT_PT) + 0.2, text_width(shape, SHAPE_FONT_PT)) / 2
        boxes.append(_box(d, name, (x + half, 0), color))
        d.text(shape, (x + half, boxes[-1].bottom.y - 0.08), size=SHAPE_FONT_PT)
        x += 2 * half + BOX_GAP
    for one, other in pairwise(boxes):
        d.arrow(one, other)
    return d


def modern_block() -> Diagram:
    """Draw a block of Llama, with the differences from the original layer next to each part."""
    d = Diagram("")
    x, left, y = 0.0, -0.72, 0.0
    d.text("(b, n, d)", (x + 0.07, -0.24), size=SHAPE_FONT_PT, align="left")
    attention = ["RMSNorm", "w_q, w_k, w_v", "RoPE on q, k", "softmax(q kᵀ/√d_k) v", "w_o"]
    network = ["RMSNorm", "w_gate, w_up", "SiLU(gate) ⊙ up", "w_down"]
    colors = {"RMSNorm": GRAY, "RoPE on q, k": PINK}
    remarks = {
        "RMSNorm": "before the sublayer,\nnot after the sum:\npre-norm",
        "w_q, w_k, w_v": "fewer heads of k, v (GQA);\nno biases; QK-norm",
        "RoPE on q, k": "turned, not added",
        "softmax(q kᵀ/√d_k) v": "causal, sliding window;\nKV cache when generating",
        "w_gate, w_up": "SwiGLU, not ReLU;\nor experts and a router",
    }
    labels: set[str] = set()
    below = Spot(x, -0.3)
    for names, color in ((attention, BLUE), (network, GREEN)):
        boxes: list[Box] = []
        start = y - 0.14
        for name in names:
            box = _box(d, name, (left, y + 0.08), colors.get(name, color))
            if boxes:
                d.arrow(boxes[-1], box)
            if name in remarks and name not in labels:
                d.text(remarks[name], (x + 0.14, box.y), size=SHAPE_FONT_PT, align="left")
                labels.add(name)
            boxes.append(box)
            y += 0.295
        plus = _plus(d, (x, y))
        d.path([(x, start), (boxes[0].x, start), boxes[0].bottom])
        d.path([boxes[-1].top, (boxes[-1].x, plus.y), plus.left])
        d.path([below, plus.bottom], thick=True, head=False)
        below, y = plus.top, y + 0.3
    d.path([below, (x, below.y + 0.25)], thick=True)
    return d


def _box(d: Diagram, name: str, at: tuple[float, float], color: str = GRAY, width: float | None = None) -> Box:
    return d.box(name, at, color, size=NAME_FONT_PT, height=BOX_HEIGHT, width=width)


def _plus(d: Diagram, at: tuple[float, float]) -> Box:
    return d.box("+", at, look="outlined", width=0.15, height=0.15, size=NAME_FONT_PT + 1, outline="round")


def _data(d: Diagram, name: str, at: tuple[float, float], shape: str) -> Box:
    """Draw data as a square box with its shape next to it."""
    box = d.box(name, at, size=NAME_FONT_PT, height=BOX_HEIGHT, outline="square", look="outlined")
    if shape:
        d.text(shape, (box.right.x + 0.05, box.y), size=SHAPE_FONT_PT, align="left")
    return box
