"""Draw language models.

``stripped`` is the Transformer without the parts that need an encoder. ``gpt`` is a whole language model that reads a
text. ``induction`` shows the two copying heads of Olsson et al. (2022), arXiv:2209.11895. ``losses`` shows which tokens
count in the losses of pretraining, supervised fine-tuning and DPO.
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

BOX_GAP = 0.26
TOKEN_STEP = 0.78


def stripped() -> Diagram:
    """Draw the encoder and the decoder in two rows, with the parts that need an encoder in gray."""
    d = Diagram(
        "The Transformer without its encoder. In gray, what goes: the encoder, the memory, and in each decoder layer "
        "the cross-attention with its norm. What stays is one self-attention and one feed-forward network a layer.",
        lists=False,
    )
    layer = [("self_attention", BLUE), ("norm_1", GRAY), ("feed_forward", GREEN), ("norm_2", GRAY)]
    encoder = _row(d, 1.25, 0.0, [("source", GRAY), ("embedding", PINK), *layer], dimmed=range(6))
    layer = [("self_attention", BLUE), ("norm_1", GRAY), ("cross_attention", BLUE), ("norm_2", GRAY)]
    layer += [("feed_forward", GREEN), ("norm_3", GRAY)]
    decoder = _row(d, 0.0, 0.0, [("target", GRAY), ("embedding", PINK), *layer, ("logits", GRAY)], dimmed=(4, 5))
    d.frame("EncoderLayer × N", encoder[2:], dashed=True, pad=0.2, size=FONT_SIZE_PT - 1)
    d.frame("DecoderLayer × N", decoder[2:-1], INK, pad=0.2, size=FONT_SIZE_PT - 1)
    memory = d.box("memory", (encoder[-1].rect.x1 + 0.65, 1.25), ORANGE, "dimmed", outline="square")
    d.arrow(encoder[-1], memory, color=GRAY, dashed=True)
    cross = decoder[4]
    d.path([memory.bottom, (memory.x, 0.61), (cross.x, 0.61), cross.top], color=GRAY, dashed=True)
    d.path([decoder[3].bottom, (decoder[3].x, -0.27), (decoder[6].x, -0.27), decoder[6].bottom])
    return d


def _row(d: Diagram, y: float, x: float, names: Sequence[tuple[str, str]], dimmed: Sequence[int] | range) -> list[Box]:
    """Draw a row of boxes with arrows between them; dimmed boxes and their arrows are gray."""
    boxes: list[Box] = []
    for i, (name, color) in enumerate(names):
        is_dimmed = i in dimmed
        width = text_width(name) + 0.16
        box = d.box(name, (x + width / 2, y), color, "dimmed" if is_dimmed else "filled", width=width)
        if boxes:
            gray = is_dimmed or i - 1 in dimmed
            d.arrow(boxes[-1], box, color=GRAY if gray else INK, dashed=gray)
        boxes.append(box)
        x = box.rect.x1 + BOX_GAP
    return boxes


POSITION_STEP, SUBLAYER_OFFSET = 1.95, 1.02
"""The distance between the positions of a GPT, and between the residual stream and the sublayers on its left."""


def gpt(
    tokens: Sequence[str], predicted: Sequence[str], n_layers: int, notes: Sequence[str] = (), names: str = "prediction"
) -> Diagram:
    """Draw a whole language model for a text, with a residual stream and a prediction at every position.

    Args:
        tokens: The tokens that the model reads.
        predicted: The next token at each position, from the text or from a model.
        n_layers: Number of blocks.
        notes: A smaller line below each prediction, such as its probability.
        names: A label for the row of predictions.

    Raises:
        ValueError: The numbers of predictions and tokens differ.
    """
    if len(predicted) != len(tokens):
        raise ValueError(
            f"predicted must have one entry per token; got {len(tokens)} tokens and {len(predicted)} predictions"
        )
    read = ", ".join(f"{token} → {following}" for token, following in zip(tokens, predicted, strict=True))
    d = Diagram(
        f"A GPT over {len(tokens)} tokens. At each position a residual stream runs from the embedding and its position "
        f"up through {n_layers} blocks. In each block it is read twice, through norm_1 by self_attention and through "
        "norm_2 by feed_forward, and what these compute is added to it. Only self_attention connects the positions: it "
        "reads norm_1 of its own position and of all to the left. "
        f"Above, norm and embedding.weight.T give the logits of the next token: {read}.",
        lists=False,
    )
    columns = [
        _position(d, i * POSITION_STEP, i, token, following, notes[i] if notes else "")
        for i, (token, following) in enumerate(zip(tokens, predicted, strict=True))
    ]
    inside = [box for boxes in columns for box in boxes]
    for i, (_, attention, *_) in enumerate(columns):
        for back, (norm, *_) in enumerate(reversed(columns[: i + 1])):  # earlier positions enter further left
            d.arrow(norm.top, attention.spot(0.5 - 0.4 * back / max(1, i), 0), color=BLUE)
    below = Box(
        "", inside[-1].x, 1.6, 0.3, 0.0, GRAY, "outlined", "", FONT_SIZE_PT, "square"
    )  # so that the frame includes the point where the first sublayer reads the stream
    d.frame(f"PreNormEncoderLayer × {n_layers}", [*inside, below], dashed=True, pad=0.12, size=FONT_SIZE_PT - 2)
    for words, y in (("tokens", 0.0), (names, 6.65)):
        d.text(words, (-0.75, y), align="right", bold=True)
    return d


def _position(d: Diagram, x: float, i: int, token: str, following: str, note: str) -> Sequence[Area]:
    """Draw one position of a GPT; return the norms, sublayers and sums of its block."""
    left = x - SUBLAYER_OFFSET
    read = _token(d, token, (x, 0.0), width=_room_for(token))
    embedding = d.box("embedding", (x, 0.6), PINK)
    d.arrow(read, embedding)
    start = d.plus((x, 1.1))
    d.arrow(embedding, start, thick=True)
    d.arrow(d.box(f"positions[{i}]", (left, 1.1), PINK, size=FONT_SIZE_PT - 1), start)
    below: Box = start
    inside: list[Box] = []
    for name, reads, color, y, room in (
        ("self_attention", "norm_1", BLUE, 1.6, 0.7),  # with room for the arrows from other positions
        ("feed_forward", "norm_2", GREEN, 3.75, 0.0),
    ):
        norm = d.box(reads, (left, y + 0.3), size=FONT_SIZE_PT - 1, height=0.24)
        sublayer = d.box(name, (left, y + 0.75 + room), color, width=1.12)
        plus = d.plus((x, y + 1.15 + room))
        d.path([below.top, plus.bottom], thick=True)
        d.path([Spot(x, y, below.name), (left, y), norm.bottom])
        if not room:
            d.arrow(norm, sublayer)
        d.path([sublayer.top, (left, plus.y), plus.left])
        below = plus
        inside += [norm, sublayer, plus]
    norm = d.box("norm", (x, 5.6))
    d.path([below.top, norm.bottom], thick=True)
    output = d.box("embedding.weight.T", (x, 6.08), PINK, size=FONT_SIZE_PT - 1)
    d.arrow(norm, output)
    top = d.box(following, (x, 6.65), GRAY, "highlighted", note, width=_room_for(following), outline="square")
    d.arrow(output, top)
    return inside


def _room_for(token: str) -> float:
    return max(0.62, text_width(token) + 0.2)


def induction(tokens: Sequence[str] = ("7", "C", "4", "9", "7")) -> Diagram:
    """Draw an induction head: it finds an earlier copy of the last token, and predicts the token that followed it.

    Args:
        tokens: The text so far. The last token must have occurred once before, but not as the second-to-last token.

    Raises:
        ValueError: The last token does not occur before the second-to-last token.
    """
    last = len(tokens) - 1
    if tokens[last] not in tokens[: last - 1]:
        raise ValueError(f"the last token must also occur before the second-to-last token; got {' '.join(tokens)}")
    first = list(tokens).index(tokens[last])
    follower = tokens[first + 1]
    d = Diagram(
        f"The text {' '.join(tokens)}. In layer 0, the previous-token head copies to each position which token came "
        f"before it: {follower} now holds 'after {tokens[last]}'. In layer 1, the induction head at the last "
        f"{tokens[last]} looks for 'after {tokens[last]}', finds {follower}, and predicts {follower}.",
        lists=False,
    )
    below = [_token(d, token, (i * TOKEN_STEP, 0.0)) for i, token in enumerate(tokens)]
    notes = ["", *(f"after {token}" for token in tokens[:-1])]
    above = [_token(d, tokens[i], (i * TOKEN_STEP, 1.0), note) for i, note in enumerate(notes)]
    predicted = _token(d, follower, (last * TOKEN_STEP, 2.0), color=GRAY, look="highlighted")
    for i in range(1, last + 1):
        is_match = i == first + 1
        color = BLUE if is_match else GRAY
        d.arrow(below[i - 1].spot(0.7, 1), above[i].spot(0.3, 0), color=color, thick=is_match, dashed=not is_match)
    d.arrow(above[last], predicted)
    found, searching = above[first + 1], above[last]
    d.path([found.top, (found.x, 1.5), (predicted.x, 1.5)], head=False, color=BLUE, thick=True)
    tail, head = searching.spot(0.25, 1), found.spot(0.75, 1)
    d.path([tail, (tail.x, 1.34), (head.x, 1.34), head], f"after {tokens[last]}?", dashed=True)
    for words, y in (("layer 0: previous-token head", 0.5), ("layer 1: induction head", 1.5), ("prediction", 2.0)):
        d.text(words, (-0.5, y), align="right", bold=True)
    d.text("tokens", (-0.5, 0), align="right", bold=True)
    return d


def _token(
    d: Diagram,
    token: str,
    at: tuple[float, float],
    note: str = "",
    color: str = PINK,
    look: Look = "filled",
    width: float = 0.62,
) -> Box:
    return d.box(token, at, color, look, note, width=width, height=0.42, outline="square")


def losses(text: Sequence[str], prompt: Sequence[str], answer: Sequence[str], rejected: Sequence[str]) -> Diagram:
    """Draw which tokens count in each of three losses: all, only the answer, or two answers with opposite signs.

    Args:
        text: The tokens of a text to pretrain on.
        prompt: The tokens of the prompt.
        answer: The tokens of the preferred answer.
        rejected: The tokens of the rejected answer.
    """
    uncounted = [None] * len(prompt)
    d = Diagram(
        f"Three losses. Pretraining on {' '.join(text)} counts all tokens but the first, which nothing predicts. "
        f"Supervised fine-tuning on the prompt {' '.join(prompt)} and the answer {' '.join(answer)} counts the tokens "
        f"of the answer. DPO raises its probability and lowers that of the rejected one, {' '.join(rejected)}.",
        lists=False,
    )
    rows = [
        ("pretraining", text, [None, *[GREEN] * (len(text) - 1)]),
        ("supervised fine-tuning", [*prompt, *answer], uncounted + [GREEN] * len(answer)),
        ("DPO, chosen ↑", [*prompt, *answer], uncounted + [BLUE] * len(answer)),
        ("DPO, rejected ↓", [*prompt, *rejected], uncounted + [ORANGE] * len(rejected)),
    ]
    for i, (name, tokens, colors) in enumerate(rows):
        x = 0.0
        for token, color in zip(tokens, colors, strict=True):
            width = text_width(token) + 0.16
            look: Look = "dimmed" if color is None else "filled"
            d.box(token, (x + width / 2, -0.5 * i), color or GRAY, look, width=width, height=0.32, outline="square")
            x += width + 0.06
        d.text(name, (-0.15, -0.5 * i), align="right", bold=True)
    return d
