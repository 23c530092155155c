"""What a decoder reads and predicts: inputs below their labels, and training next to generation."""

from collections.abc import Sequence

from transformer_course.diagrams.canvas import Diagram, beside
from transformer_course.diagrams.elements import FONT_SIZE_PT, GRAY, PINK, WRONG_RED, Box, Spot

TOKEN_STEP, ROW_HEIGHT = 0.62, 1.0
"""The distance between tokens, and between rows."""


def rows(inputs: Sequence[str], labels: Sequence[str]) -> Diagram:
    """Draw inputs below labels, with an arrow up for each prediction and one down for the origin of an input.

    An input that is the label of the position before it gets a diagonal arrow, as after a shift to the right. An input
    that is the label of its own position leaks the answer, and is drawn in red.

    Args:
        inputs: The tokens that the model reads.
        labels: The tokens to predict, one for each input.

    Raises:
        ValueError: The numbers of inputs and labels differ.
    """
    if len(inputs) != len(labels):
        raise ValueError(f"each label needs an input; got {len(inputs)} inputs for {len(labels)} labels")
    given_away = list(inputs) == list(labels)
    d = Diagram(
        "Two rows of tokens. Each input is the label of its own position: the answer is given away."
        if given_away
        else "Two rows of tokens. The decoder should predict the label above each input; each label is the next input."
    )
    fed, wanted = [], []
    for i, (token, label) in enumerate(zip(inputs, labels, strict=True)):
        fed.append(_token(d, token, (i * TOKEN_STEP, 0), PINK))
        wanted.append(_token(d, label, (i * TOKEN_STEP, ROW_HEIGHT), GRAY))
    for i in range(len(fed)):
        if given_away:
            d.arrow(wanted[i], fed[i], color=WRONG_RED, dashed=True)
            continue
        d.arrow(fed[i], wanted[i])
        if i + 1 < len(fed) and labels[i] == inputs[i + 1]:
            d.arrow(wanted[i].spot(0.85, 0), fed[i + 1].spot(0.15, 1), color=GRAY, dashed=True)
    d.text("labels", (-0.38, ROW_HEIGHT), align="right", bold=True)
    d.text("inputs", (-0.38, 0), align="right", bold=True)
    return d


def beside_generation(tokens: Sequence[str], n_passes: int = 3) -> Diagram:
    """Draw training, a single pass over the correct tokens, next to generation, a loop with one new token per pass.

    Args:
        tokens: The labels. In training, the model reads ``<bos>`` and all labels except the last.
        n_passes: Number of passes of the loop. Each reads the tokens that the passes before it generated.

    Raises:
        ValueError: There are fewer tokens than passes, or no pass.
    """
    if not 1 <= n_passes <= len(tokens):
        raise ValueError(f"n_passes must be from 1 to {len(tokens)}, the number of tokens; got {n_passes}")
    inputs = ["<bos>", *tokens[:-1]]
    training = Diagram("One pass reads the correct tokens and predicts a label at every position.")
    bottom, top = _pass(training, inputs, tokens, 0.0, n_given=len(inputs))
    for label, box in (("it should\npredict", top[0]), ("it reads the\ncorrect text", bottom[0])):
        training.text(label, (-0.38, box.y), align="right", size=FONT_SIZE_PT - 1)
    loop = Diagram("Each pass reads what the model has generated so far and predicts one more token.")
    x, fed_back = 0.0, None
    for n in range(1, n_passes + 1):
        bottom, top = _pass(loop, inputs[:n], [tokens[n - 1]], x, n_given=1)
        if fed_back is not None:
            turn, below = x - 0.42, bottom[-1].y - 0.42
            corners = [Spot(turn, fed_back.y), Spot(turn, below), Spot(bottom[-1].x, below)]
            loop.path([fed_back.right, *corners, bottom[-1].bottom], color=PINK, dashed=True)
        fed_back = top[-1]
        x = bottom[-1].x + 2 * TOKEN_STEP
    return beside(training, loop, titles=("Training: one pass", "Generation: a loop"), cross_out=False, gap=0.9)


def _pass(
    d: Diagram, inputs: Sequence[str], outputs: Sequence[str], x: float, n_given: int
) -> tuple[list[Box], list[Box]]:
    """Draw a pass: inputs, the decoder, and outputs above the last inputs, with generated tokens in pink.

    Returns:
        The boxes of the inputs and those of the outputs.
    """
    at = [x + i * TOKEN_STEP for i in range(len(inputs))]
    colors = [GRAY if i < n_given else PINK for i in range(len(inputs))]
    bottom = [_token(d, token, (at[i], 0), colors[i]) for i, token in enumerate(inputs)]
    width = max(at[-1] - at[0] + 0.46, 0.78)
    decoder = d.box("decoder", ((at[0] + at[-1]) / 2, 0.72), GRAY, "outlined", width=width, height=0.36)
    color = GRAY if len(outputs) == len(inputs) > 1 else PINK
    top = [_token(d, token, (place, 1.44), color) for token, place in zip(outputs, at[-len(outputs) :], strict=True)]
    for box in bottom:
        d.arrow(box.top, Spot(box.x, decoder.bottom.y, decoder.name))
    for box in top:
        d.arrow(Spot(box.x, decoder.top.y, decoder.name), box.bottom)
    return bottom, top


def _token(d: Diagram, token: str, at: tuple[float, float], color: str) -> Box:
    size = FONT_SIZE_PT if len(token) < 5 else FONT_SIZE_PT - 1.5
    return d.box(token, at, color, width=0.46, height=0.32, size=size, outline="square")
