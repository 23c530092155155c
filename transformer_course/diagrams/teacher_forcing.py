"""What a decoder is fed beside what it should predict: two rows of tokens, and where each input comes from."""

from collections.abc import Sequence

from transformer_course.diagrams.canvas import Diagram
from transformer_course.diagrams.elements import FONT_SIZE_PT, GRAY, PINK, WRONG_RED, Box

TOKEN_STEP, ROW_HEIGHT = 0.62, 1.0
"""From token to token, and from row to row."""


def rows(inputs: Sequence[str], labels: Sequence[str]) -> Diagram:
    """Draw inputs below labels: an arrow up for what is learned, and one down for where an input is from.

    An input that is the label of the position before it comes along a diagonal, as after a shift to the right. One that
    is the label of its own position gives the answer away, and is drawn in red.

    Args:
        inputs: The tokens that are fed.
        labels: The tokens that should be predicted, as many.

    Raises:
        ValueError: There are not as many inputs as labels.
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


def _token(d: Diagram, token: str, at: tuple[float, float], color: str) -> Box:
    size = FONT_SIZE_PT if len(token) < 5 else FONT_SIZE_PT - 1.5
    return d.box(token, at, color, width=0.46, height=0.32, size=size, outline="square")
