"""Summarize predictions on the home page: the number of right predictions, and the calibration of the confidence."""

from collections.abc import Sequence

from transformer_course.workspace.progress import Prediction

CONFIDENCE_RANGES = ((0.0, 0.6), (0.6, 0.7), (0.7, 0.8), (0.8, 0.9), (0.9, 1.01))
WIDTH, HEIGHT, LEFT, BOTTOM = 350, 230, 62, 44


def calibration(predictions: Sequence[Prediction]) -> list[tuple[float, float, int]]:
    """Group predictions by confidence; return the mean confidence, the fraction right, and the size of each group.

    Empty groups are omitted. A prediction that was close counts as half right.
    """
    groups = []
    for low, high in CONFIDENCE_RANGES:
        group = [(p.sure, p.answer) for p in predictions if p.sure is not None and low <= p.sure < high]
        if group:
            n_right = sum({"right": 1.0, "close": 0.5}.get(answer, 0.0) for _, answer in group)
            groups.append((sum(sure for sure, _ in group) / len(group), n_right / len(group), len(group)))
    return groups


def calibration_plot(predictions: Sequence[Prediction]) -> str:
    """Return an SVG plot of the fraction right against confidence. A calibrated learner is on the diagonal."""
    groups = calibration(predictions)
    description = "; ".join(f"{sure:.0%} sure: {right:.0%} of {n} right" for sure, right, n in groups)

    def at(sure: float, right: float) -> tuple[float, float]:
        return LEFT + sure * (WIDTH - LEFT - 16), HEIGHT - BOTTOM - right * (HEIGHT - BOTTOM - 16)

    (x0, y0), (x1, y1) = at(0, 0), at(1, 1)
    ticks = "".join(
        f'<text x="{at(tick, 0)[0]:.0f}" y="{y0 + 16:.0f}" text-anchor="middle">{tick:.0%}</text>'
        f'<text x="{x0 - 6:.0f}" y="{at(0, tick)[1] + 4:.0f}" text-anchor="end">{tick:.0%}</text>'
        for tick in (0.0, 0.5, 1.0)
    )
    points = "".join(
        f'<circle cx="{at(sure, right)[0]:.0f}" cy="{at(sure, right)[1]:.0f}" r="{3 + n**0.5:.1f}"/>'
        for sure, right, n in groups
    )
    return (
        f'<svg class="tl-calibration" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" role="img" '
        f'aria-label="{description}"><title>{description}</title>'
        f'<path d="M{x0:.0f} {y1:.0f}V{y0:.0f}H{x1:.0f}" class="tl-axes"/>'
        f'<path d="M{x0:.0f} {y0:.0f}L{x1:.0f} {y1:.0f}" class="tl-diagonal"/>{points}{ticks}'
        f'<text x="{(x0 + x1) / 2:.0f}" y="{HEIGHT - 8}" text-anchor="middle">your confidence</text>'
        f'<text transform="translate(14 {(y0 + y1) / 2:.0f}) rotate(-90)" text-anchor="middle">'
        "fraction right</text></svg>"
    )


def summary(predictions: Sequence[Prediction]) -> str:
    """Return a sentence about the number of right and close predictions."""
    n = {answer: sum(p.answer == answer for p in predictions) for answer in ("right", "close")}
    return f"{n['right']} of {len(predictions)} predictions right, {n['close']} close."
