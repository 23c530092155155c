"""Draw a recurrent translator unrolled in time, with its bottleneck and with attention.

Names are the same as in lesson 00: ``h`` is a hidden state of the encoder, ``s`` a state of the decoder, and ``c`` the
context.
"""

from itertools import pairwise

from jaxtyping import Float
from torch import Tensor

from transformer_course.diagrams.canvas import Diagram
from transformer_course.diagrams.elements import BLUE, GRAY, ORANGE, PINK, Box, Spot

TOKEN_STEP = 0.54
START_LABEL = "start\ntoken"
SPACE_MARK = "␣"


def unrolled(source: str, target: str) -> Diagram:
    """Draw a translator whose decoder receives a single context vector, the encoder's last state.

    Args:
        source: The text that the encoder reads, one token per character.
        target: The text that the decoder generates.

    Raises:
        ValueError: One of the texts is empty.
    """
    _check(source, target)
    d = Diagram(
        f"An encoder reads {source!r}, one hidden state after another. Only the last one, {_name('h', len(source))}, "
        f"reaches the decoder: as the context c, the same at every step that generates {target!r}.",
        lists=False,
    )
    encoder = _encoder(d, source)
    decoder = _decoder(d, target, y=2.15)
    last = encoder[-1]
    context = d.box("c", (last.x + 0.75, last.y), ORANGE, look="highlighted")
    d.arrow(last, context)
    d.text("one vector", (context.x, context.bottom.y - 0.13), size=8)
    bus = 1.5
    d.path([context.top, Spot(context.x, bus), Spot(decoder[0].x, bus)], head=False, color=ORANGE)
    for state in decoder:
        d.path([Spot(state.x, bus, "c"), state.bottom], color=ORANGE)
    d.text("the same c at every step", (last.x - 0.4, bus - 0.14), size=8)
    return d


def with_attention(source: str, target: str, weights: Float[Tensor, " n_source"], step: int) -> Diagram:
    """Draw one step of a translator whose decoder attends to all of the encoder's states.

    Args:
        source: The text that the encoder reads, one token per character.
        target: The text that the decoder generates.
        weights: The attention weights of the step, one for each character of the source.
        step: The step to draw, counted from 1. It must be at least 2, because the previous state computes the scores.

    Raises:
        ValueError: A text is empty, the numbers of weights and characters differ, or ``step`` is out of range.
    """
    _check(source, target)
    if len(weights) != len(source):
        raise ValueError(f"weights must have one entry for each of the {len(source)} characters; got {len(weights)}")
    if not 2 <= step <= len(target):
        raise ValueError(f"step must be between 2 and {len(target)}, the length of the target; got {step}")
    before, now = _name("s", step - 1), _name("s", step)
    displayed = [f"{weight:.2f}" if weight >= 0.005 else "0" for weight in weights.tolist()]
    d = Diagram(
        f"All hidden states of the encoder, which reads {source!r}, are kept. At step {step} of the decoder, which "
        f"generates {target!r}, the state before it, {before}, scores them; softmax makes the weights "
        f"{' '.join(displayed)}; the weighted average of the states is the context {_name('c', step)}, which goes into "
        f"{now}.",
        lists=False,
    )
    encoder = _encoder(d, source)
    middle = (encoder[0].x + encoder[-1].x) / 2
    table = d.cells([displayed], (middle, 1.5), cell=(TOKEN_STEP, 0.3), fill=weights[None])
    d.text("weights", (table.left.x - 0.08, table.y), size=8, align="right")
    decoder = _decoder(d, target, y=3.45)
    asking, stepping = decoder[step - 2], decoder[step - 1]
    context = d.box(_name("c", step), (stepping.x, 2.75), ORANGE, look="highlighted")
    bus = table.top.y + 0.3
    d.path([asking.bottom, Spot(asking.x, bus)], head=False, color=BLUE)
    d.path([Spot(encoder[0].x - 0.12, bus), Spot(encoder[-1].x - 0.12, bus)], head=False, color=BLUE)
    heaviest = int(weights.argmax())
    for i, (state, weight) in enumerate(zip(encoder, weights.tolist(), strict=True)):
        d.arrow(state, Spot(state.x, table.bottom.y, "weights"), color=ORANGE)
        score = Spot(state.x - 0.12, bus, asking.name)
        d.path([score, Spot(score.x, table.top.y, "weights")], color=BLUE)
        ends = [Spot(state.x + 0.08, table.top.y, "weights"), context.bottom]
        d.path(ends, color=ORANGE, width=0.4 + 6 * weight, head=i == heaviest)
    d.text(f"{before} scores every h;\nsoftmax makes the weights", (encoder[-1].x, bus + 0.06), size=8, align="left")
    d.text(f"{context.name} averages all h\n(line width: weight)", (context.x + 0.7, 2.75), size=8, align="left")
    d.arrow(context, stepping, color=ORANGE)
    return d


def gradient_paths(n: int = 40) -> Diagram:
    """Draw the path of the gradient from the context back to the first state, without and with attention.

    Args:
        n: The number of states. Only the first two states and the last state are drawn.

    Raises:
        ValueError: There are fewer than 4 states.
    """
    if n < 4:
        raise ValueError(f"n must be at least 4; got n={n}")
    d = Diagram(
        f"The way of the gradient from the context c back to the first of {n} hidden states. With one vector it passes "
        f"through every state in turn, {n - 1} factors. With attention it takes one step: it is multiplied by the "
        "weight of that state.",
        lists=False,
    )
    for y, title, one_step in ((1.5, "one vector", False), (0.0, "attention", True)):
        names = [_name("h", 1), _name("h", 2), "…", _name("h", n)]
        states = [d.box(name, (0.9 * i, y), GRAY, width=0.45) for i, name in enumerate(names)]
        context = d.box("c", (3.6, y), GRAY, width=0.45)
        for later, earlier in pairwise([context, *reversed(states)]):
            if not one_step:
                d.arrow(later.spot(0, 0.5), earlier.spot(1, 0.5), color=BLUE, width=2.2)
            elif later is not context:
                d.arrow(earlier.spot(1, 0.5), later.spot(0, 0.5))
        if one_step:
            ends = [context.top, Spot(context.x, y + 0.5), Spot(states[0].x, y + 0.5), states[0].top]
            d.path(ends, color=BLUE, width=2.2)
            d.text("one factor: the weight of the first state", (1.8, y + 0.62), size=8)
        else:
            d.text(f"{n - 1} factors, one for each step", (1.8, y + 0.4), size=8)
        d.text(title, (-0.4, y), bold=True, align="right")
    return d


def _encoder(d: Diagram, source: str) -> list[Box]:
    """Draw the characters that the encoder reads, and its hidden states."""
    states: list[Box] = []
    for i, character in enumerate(source, start=1):
        token = d.box(_printable(character), (i * TOKEN_STEP, 0), PINK, outline="square", width=0.3)
        state = d.box(_name("h", i), (i * TOKEN_STEP, 0.75), ORANGE, width=0.38)
        d.arrow(token, state)
        if states:
            d.arrow(states[-1], state)
        states.append(state)
    d.text("encoder", (0.5 * TOKEN_STEP, 0.75), bold=True, align="right")
    return states


def _decoder(d: Diagram, target: str, y: float) -> list[Box]:
    """Draw the states of the decoder and the predicted characters. Each predicted character is the next input."""
    states: list[Box] = []
    generated = d.box(START_LABEL, (0.0, y + 0.75), PINK, outline="square", width=0.45)
    for t, character in enumerate(target, start=1):
        state = d.box(_name("s", t), (t * TOKEN_STEP, y), GRAY, width=0.38)
        d.path([generated.spot(0.8, 0), state.spot(0.2, 1)], dashed=True)
        if states:
            d.arrow(states[-1], state)
        states.append(state)
        generated = d.box(_printable(character), (t * TOKEN_STEP, y + 0.75), PINK, outline="square", width=0.3)
        d.arrow(state, generated)
    d.text("decoder", (0.5 * TOKEN_STEP, y), bold=True, align="right")
    return states


def _check(*texts: str) -> None:
    if not all(texts):
        raise ValueError("source and target must not be empty")


def _printable(character: str) -> str:
    return SPACE_MARK if character == " " else character


def _name(letter: str, number: int) -> str:
    """Return a letter with a subscript number."""
    return letter + str(number).translate(str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉"))
