"""Learning rate schedules: the learning rate of each step, counting from 1."""

import math


def noam_rate(step: int, d_model: int, warmup: int) -> float:
    """Return a learning rate that rises linearly and then falls with the inverse square root of the step.

    ``d_model^−½ min(step^−½, step · warmup^−3/2)``: equation 3 of Vaswani et al. (2017), arXiv:1706.03762.

    Raises:
        ValueError: ``step`` or ``warmup`` is less than 1.

    >>> f"{noam_rate(4000, d_model=512, warmup=4000):.6f}"
    '0.000699'
    """
    _check(step, warmup)
    return float(d_model**-0.5 * min(step**-0.5, step * warmup**-1.5))


def cosine_rate(step: int, peak: float, warmup: int, total: int) -> float:
    """Return a learning rate that rises linearly to the peak, falls along half a cosine to 0, and stays at 0.

    Section 3 of Loshchilov and Hutter (2017), arXiv:1608.03983, without restarts.

    Args:
        step: The step, counting from 1.
        peak: Highest learning rate, at the end of the warm-up.
        warmup: Number of warm-up steps.
        total: Step at which the learning rate reaches 0.

    Raises:
        ValueError: ``step`` or ``warmup`` is less than 1, or the warm-up does not end before ``total``.

    >>> [round(cosine_rate(step, peak=1.0, warmup=2, total=10), 2) for step in (1, 2, 6, 10, 99)]
    [0.5, 1.0, 0.5, 0.0, 0.0]
    """
    _check(step, warmup)
    if warmup >= total:
        raise ValueError(f"warmup must be less than total, the last step; got warmup={warmup}, total={total}")
    if step <= warmup:
        return peak * step / warmup
    progress = min((step - warmup) / (total - warmup), 1.0)
    return peak * (1 + math.cos(math.pi * progress)) / 2


def _check(step: int, warmup: int) -> None:
    if step < 1 or warmup < 1:
        raise ValueError(f"step and warmup must be at least 1; got step={step}, warmup={warmup}")
