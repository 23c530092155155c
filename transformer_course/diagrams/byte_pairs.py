"""Draw byte-pair encoding: the tokens of a text after each merge."""

from collections.abc import Sequence

from transformer_course.diagrams.canvas import Diagram
from transformer_course.diagrams.elements import FONT_SIZE_PT, PINK, Box, Look

BYTE_WIDTH = 0.4
ROW_HEIGHT = 0.58


def merged(text: str, merges: Sequence[tuple[int, int]]) -> Diagram:
    """Draw the bytes of a text and, below them, its tokens after each merge.

    Args:
        text: The text to encode.
        merges: Pairs of tokens, in the order in which they are merged. The first pair becomes token 256.

    Raises:
        ValueError: The text is empty.

    >>> print(merged("abcab", [(97, 98)]).alt)
    The bytes of 'abcab' and, below them, its tokens after each merge. 5 bytes: a b c a b. Token 256, ab: ab c ab.
    """
    if not text:
        raise ValueError("the text must not be empty")
    pieces = [bytes([byte]) for byte in range(256)]
    tokens = list(text.encode())
    rows, names = [tokens], [f"{len(tokens)} bytes"]
    for pair in merges:
        pieces.append(pieces[pair[0]] + pieces[pair[1]])
        rows.append(tokens := _with_pair_merged(tokens, pair, len(pieces) - 1))
        names.append(f"Token {len(pieces) - 1}, {_printable(pieces[-1])}")
    sentences = []
    for name, row in zip(names, rows, strict=True):
        sentences.append(f"{name}: {' '.join(_printable(pieces[token]) for token in row)}.")
    d = Diagram(
        f"The bytes of {text!r} and, below them, its tokens after each merge. {' '.join(sentences)}", lists=False
    )
    above: list[Box] = []
    for i, row in enumerate(rows):
        above = _row(d, [pieces[token] for token in row], -i * ROW_HEIGHT, above)
        end = len(rows[0]) * BYTE_WIDTH + 0.1
        d.text(
            names[i] if i == 0 else f"{len(row)} tokens",
            (end, -i * ROW_HEIGHT),
            size=FONT_SIZE_PT - 1,
            align="left",
        )
        if i:
            first, second = (_printable(pieces[token]) for token in merges[i - 1])
            d.text(f"{first} + {second} → {255 + i}", (-0.1, -i * ROW_HEIGHT), size=FONT_SIZE_PT - 1, align="right")
    return d


def _with_pair_merged(tokens: list[int], pair: tuple[int, int], new_id: int) -> list[int]:
    result: list[int] = []
    for token in tokens:
        if result and (result[-1], token) == tuple(pair):
            result[-1] = new_id  # the new token is never part of the pair, so aaa becomes aa and a
        else:
            result.append(token)
    return result


def _row(d: Diagram, tokens: Sequence[bytes], y: float, above: Sequence[Box]) -> list[Box]:
    """Draw a row of tokens, with lines from the row above to each merged token."""
    old, boxes, start = {box.rect.x0: box for box in above}, list[Box](), 0
    for token in tokens:
        x, width = (start + len(token) / 2) * BYTE_WIDTH, len(token) * BYTE_WIDTH - 0.06
        x0 = x - width / 2
        parts = [box for left, box in old.items() if x0 - 0.01 < left < x0 + width]
        look: Look = "highlighted" if len(parts) == 2 else "filled"
        box = d.box(_printable(token), (x, y), PINK, look, width=width, height=0.3, outline="square")
        for part in parts if len(parts) == 2 else ():
            d.path([part.bottom, box.spot((part.x - x0) / width, 1)])
        boxes.append(box)
        start += len(token)
    return boxes


def _printable(token: bytes) -> str:
    """Return the characters of a token, or its bytes in hexadecimal if they are not valid UTF-8."""
    text = token.decode(errors="replace").replace(" ", "␣")
    return text if text.isprintable() and "�" not in text else token.hex()
