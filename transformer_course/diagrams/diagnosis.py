"""Draw how to diagnose a model: the stages that each instrument tests, and the first measurement for each symptom.

``instruments`` draws a bar for each instrument, over the stages of a training step that it tests;
``first_measurements`` is a decision tree from symptoms to suspects.
"""

from itertools import pairwise

from transformer_course.diagrams.canvas import Diagram
from transformer_course.diagrams.elements import BLUE, FONT_SIZE_PT, GRAY, PINK

STAGES = (
    ("tokens", GRAY, "padding\nlabels in them"),
    ("embedding", PINK, "positions\ninitial size"),
    ("layers", BLUE, "masks, norms\ncache, mode"),
    ("logits", PINK, "tied weights"),
    ("loss", GRAY, "labels\nmean of what"),
    ("gradients", GRAY, "none, zero\ntoo large"),
    ("optimizer", GRAY, "rate, decay\nmissing parts"),
)
"""The stages of a training step: name, color, and common faults."""
INSTRUMENTS = (
    ("run it twice", "layers", "layers"),
    ("cached against uncached", "embedding", "layers"),
    ("alone against in a batch", "tokens", "layers"),
    ("leak test, receptive field", "tokens", "logits"),
    ("first loss against log V", "embedding", "loss"),
    ("gradient norms", "embedding", "gradients"),
    ("overfit one batch", "embedding", "optimizer"),
    ("held-out loss, samples", "tokens", "optimizer"),
)
"""Each instrument with the first and the last stage that it tests, ordered by the number of stages."""
FIRST_MEASUREMENTS = (
    (
        "the loss is\ntoo good",
        "leak test",
        (("leaks", "a mask, or the labels\namong the inputs"), ("honest", "the loss itself:\nits labels, its mean")),
    ),
    (
        "the loss stays\ntoo high",
        "overfit one batch",
        (
            ("fits", "data, rate, or a part\nthat never moves"),
            ("fails", "a layer, a mask:\ngradient norms"),
        ),
    ),
    (
        "the loss is fine,\nthe text is not",
        "cached against\nuncached",
        (("differ", "the cache,\nor its positions"), ("equal", "generation sees what\ntraining did not")),
    ),
    (
        "one text,\ntwo outputs",
        "run it twice, alone",
        (
            ("differ", "something random:\ntrain() or eval()?"),
            ("equal", "the batch: padding,\nits mask, its positions"),
        ),
    ),
)
COLUMN_WIDTH = 1.02
ROW_HEIGHT = 0.27
BRANCH_HEIGHT = 0.46


def instruments() -> Diagram:
    """Draw the stages of a training step in a row and, below them, a bar for each instrument."""
    d = Diagram(
        "The stages of a training step from left to right, with what is often wrong in each. Below, a bar for each "
        "instrument: it covers the stages that must be right for its result to be right. A short bar tells where a bug "
        "is, a long one that there is one.",
        lists=False,
    )
    columns = {}
    for i, (name, color, often_wrong) in enumerate(STAGES):
        columns[name] = d.box(name, (i * COLUMN_WIDTH, 0), color, width=0.82)
        d.text(often_wrong, (i * COLUMN_WIDTH, -0.42), FONT_SIZE_PT - 1.5)
    for before, after in pairwise(columns.values()):
        d.arrow(before, after)
    for i, (name, first, last) in enumerate(INSTRUMENTS):
        y = -0.9 - i * ROW_HEIGHT
        left, right = columns[first].rect.x0, columns[last].rect.x1
        d.box("", ((left + right) / 2, y), GRAY, width=right - left, height=0.14, outline="square")
        d.text(name, (-0.6, y), align="right")
    d.text("often wrong", (-0.6, -0.42), align="right", color=GRAY)
    return d


def first_measurements() -> Diagram:
    """Draw a decision tree from symptoms to first measurements, and from their results to suspects."""
    d = Diagram("Four symptoms, for each the measurement to begin with, and after each of its results where to look.")
    y = 0.0
    for symptom, measurement, results in FIRST_MEASUREMENTS:
        middle = y - BRANCH_HEIGHT / 2
        symptom_box = d.box(symptom, (0, middle), GRAY, "outlined", width=1.3, outline="square")
        measurement_box = d.box(measurement, (1.95, middle), BLUE, width=1.45)
        d.arrow(symptom_box, measurement_box)
        for result, suspects in results:
            place = d.box(suspects, (4.75, y), GRAY, width=1.9, size=FONT_SIZE_PT - 1, height=0.4)
            d.path([measurement_box.right, (2.95, middle), (2.95, y), place.left], result, label_at=0.74)
            y -= BRANCH_HEIGHT
        y -= 0.16
    for words, x in (("symptom", 0.0), ("measurement", 1.95), ("where to look", 4.75)):
        d.text(words, (x, 0.42), bold=True)
    return d
