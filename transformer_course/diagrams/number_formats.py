"""Draw the bits of number formats: sign, exponent and fraction of floats, and the bits of integers."""

from collections.abc import Mapping

from transformer_course.diagrams.canvas import Diagram
from transformer_course.diagrams.elements import BLUE, GRAY, PINK

FORMATS = {
    "float32": (1, 8, 23),
    "bfloat16": (1, 8, 7),
    "float16": (1, 5, 10),
    "fp8 (E4M3)": (1, 4, 3),
    "int8": (1, 0, 7),
    "int4": (0, 0, 4),
}
"""For each format, the number of bits for the sign, for the exponent, and for the fraction or integer."""
BIT_SIZE = 0.17
ROW_STEP = 0.4


def bits(formats: Mapping[str, tuple[int, int, int]] = FORMATS) -> Diagram:
    """Draw a row of bits for each format.

    Args:
        formats: For each format, the number of bits for the sign, the exponent, and the fraction or integer.

    >>> [len(table.texts[0]) for table in bits().tables]
    [32, 16, 16, 8, 8, 4]
    """
    listed = "; ".join(
        f"{name} has {sum(counts)} bits: " + " + ".join(str(n) for n in counts if n) for name, counts in formats.items()
    )
    d = Diagram(
        "A row of bits for each format: sign, exponent, and fraction or whole number. The exponent sets the range, and "
        f"the other bits the precision. {listed}.",
        lists=False,
    )
    for i, (name, counts) in enumerate(formats.items()):
        n_bits, y = sum(counts), -i * ROW_STEP
        fill = [color for color, n in zip((PINK, BLUE, GRAY), counts, strict=True) for _ in range(n)]
        at = n_bits * BIT_SIZE / 2, y
        d.cells([[""] * n_bits], at, cell=(BIT_SIZE, 0.24), fill=[fill], row_names=[name])
        d.text(f"{n_bits} bits", (n_bits * BIT_SIZE + 0.1, y), align="left")
    below = 0.05 - len(formats) * ROW_STEP
    for words, x, color in (("sign", 0.0, PINK), ("exponent", 0.9, BLUE), ("fraction or whole number", 2.1, GRAY)):
        d.swatch(words, (x, below), color)
    return d
