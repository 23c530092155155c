"""Judge whether a learner's prediction before an experiment matches the result."""

import ast
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from torch import Tensor

Choices = Sequence[float] | Mapping[str, float]
"""Numbers to choose from, or words with the number that each word stands for."""
Answer = Literal["right", "close", "wrong"]

RIGHT_WITHIN_FRACTION = 0.05
"""A prediction is right within this fraction of the measured or the predicted number, whichever is smaller."""
RIGHT_COUNT_WITHIN_FRACTION = 0.02
CLOSE_WITHIN_FRACTION, CLOSE_DECIMAL_WITHIN_FRACTION = 0.1, 0.15
"""Fractions within which a prediction counts as close: for a whole number, and for a number with decimals."""
MAX_SIZE_OF_ZERO, MAX_SIZE_NEAR_ZERO = 0.0005, 0.005
"""Numbers with an absolute value below the first limit count as 0, below the second limit as close to 0."""

_NUMBER = r"[-+]?(?:\d[\d,]*\.?\d*|\.\d+)(?:e[-+]?\d+)?"
_ABOUT = re.compile(
    rf"(?:(?:near|about|around|roughly|approximately|~|≈)\s*)?({_NUMBER})\s*(?:%|per ?cent|times|x|×)?", re.IGNORECASE
)
_RANGE = re.compile(rf"({_NUMBER})\s*(?:to|-|–|…)\s*({_NUMBER})", re.IGNORECASE)
_SURE = re.compile(r"\s*(\d{1,2}|100)\s*%\s*")
_BELOW = re.compile(rf"(?:below|under|less than|at most|<=?|≤)\s*({_NUMBER})", re.IGNORECASE)
_ABOVE = re.compile(rf"(?:above|over|more than|at least|>=?|≥)\s*({_NUMBER})", re.IGNORECASE)


def judge_prediction(prediction: Any, measured: Any) -> Answer | None:
    """Return whether a prediction is right, close or wrong, or None if it cannot be compared.

    The tolerance depends on how precisely a number is written:

    - If both numbers are whole, they must be equal. Only a round number of at least 20, with at most two digits before
      its zeros, is right within 2 % and close within 10 %: 60 is right for 59, but 2020 is wrong for 2021.
    - Any other number is right if the measurement rounds to it (0.3 for 0.32) or is at most 5 % away (22 for 22.6). It
      is close if it is less than 10 % away, or less than 15 % if it has decimals. Numbers below 0.0005 count as 0, and
      numbers below 0.005 as close to 0.
    - A percentage stands for its fraction: 90 is right for 0.9.
    - Phrases such as ``"about 20"``, ``"20 times"``, ``"more than 10"`` and ``"10 to 20"`` are recognized.

    Words are right if they are equal, ignoring case and surrounding spaces. A list, a tuple or a tensor is as right as
    its worst entry, and whole numbers in it must be equal.

    Args:
        prediction: The prediction as the learner typed it.
        measured: The result of the experiment.
    """
    prediction, measured = _plain(prediction), _plain(measured)
    try:
        return _judge(prediction, measured)
    except OverflowError:  # an integer may be too large for a float
        return "wrong"


def judge_choice(prediction: Any, measured: float, choices: Choices) -> Answer | None:
    """Judge whether a prediction is the choice nearest to the measurement. Other numbers are judged directly."""
    nearest = nearest_choice(measured, choices)
    if judge_prediction(prediction, nearest) == "right":
        return "right"
    if any(judge_prediction(prediction, choice) == "right" for choice in choices):
        return "wrong"
    return judge_prediction(prediction, measured)


def nearest_choice(measured: float, choices: Choices) -> Any:
    """Return the choice nearest to the measurement, by ratio if all numbers are positive, otherwise by difference."""
    numbers = choices if isinstance(choices, Mapping) else {number: number for number in choices}
    by_ratio = min(measured, *numbers.values()) > 0

    def distance(choice: Any) -> float:
        return abs(math.log(measured / numbers[choice])) if by_ratio else abs(measured - numbers[choice])

    return min(numbers, key=distance)


def split_confidence(prediction: Any) -> tuple[Any, float | None]:
    """Separate a prediction from its confidence: ``(4, "80 %")`` becomes 4 and 0.8, and ``4`` becomes 4 and None."""
    if isinstance(prediction, tuple) and len(prediction) == 2 and isinstance(prediction[1], str):
        sure = _SURE.fullmatch(prediction[1])
        # A pair of percentages is a list of predictions, not a prediction with a confidence.
        if sure and not _SURE.fullmatch(str(prediction[0])):
            return prediction[0], int(sure[1]) / 100
    return prediction, None


def _judge(prediction: Any, measured: Any) -> Answer | None:
    if isinstance(prediction, str) and not isinstance(measured, str | int | float):
        prediction = _parsed(prediction)
    if isinstance(measured, list) or isinstance(prediction, list):
        return _judge_lists(prediction, measured)
    if isinstance(measured, bool) or isinstance(prediction, bool):
        return _right_or_wrong(prediction is measured) if type(prediction) is type(measured) else None
    if isinstance(measured, str):
        return _judge_words(prediction, measured)
    if isinstance(prediction, str) and isinstance(measured, int | float):
        return _judge_text(prediction, measured)
    if isinstance(prediction, int | float) and isinstance(measured, int | float):
        return _judge_numbers(prediction, measured)
    return None


def _plain(value: Any) -> Any:
    if isinstance(value, Tensor | np.ndarray | np.generic):
        value = value.tolist()
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value


def _parsed(text: str) -> Any:
    try:
        return _plain(ast.literal_eval(text.strip()))
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None


def _right_or_wrong(is_right: bool) -> Answer:
    return "right" if is_right else "wrong"


def _judge_lists(prediction: Any, measured: Any) -> Answer | None:
    if prediction is None or isinstance(prediction, str) != isinstance(measured, str):
        return None
    if not isinstance(measured, list):
        measured = [measured]
    if not isinstance(prediction, list):
        prediction = [prediction]
    if len(prediction) != len(measured):
        return "wrong"
    answers = [_judge_entry(*pair) for pair in zip(prediction, measured, strict=True)]
    for answer in (None, "wrong", "close"):
        if answer in answers:
            return answer  # the worst judgment
    return "right"


def _judge_entry(prediction: Any, measured: Any) -> Answer | None:
    if type(prediction) is int and type(measured) is int:
        return _right_or_wrong(prediction == measured)
    return _judge(prediction, measured)


def _judge_words(prediction: Any, measured: str) -> Answer | None:
    if _words(str(prediction)) == _words(measured):
        return "right"
    if found := _ABOUT.fullmatch(measured.strip()):
        number = float(_as_number(found[1]))
        return _judge_text(prediction, number) if isinstance(prediction, str) else _judge_number(prediction, number)
    if found := _RANGE.fullmatch(measured.strip()):
        low, high = _as_number(found[1]), _as_number(found[2])
        if not isinstance(prediction, int | float):
            return None
        return "right" if low <= prediction <= high else _judge_number(prediction, low if prediction < low else high)
    return "wrong" if isinstance(prediction, str | int | float) else None


def _words(text: str) -> list[str]:
    """Return the words of a text without articles and "and", or the text itself if it contains no words."""
    words = re.findall(r"[\w√.]+", text.casefold())
    return [word for word in words if word not in ("a", "an", "and", "the")] or [text.strip().casefold()]


def _judge_text(prediction: str, measured: float) -> Answer | None:
    """Judge a prediction such as "about 20", or return None if the text is not in a known format."""
    text = prediction.strip()
    if found := _ABOUT.fullmatch(text):
        return _judge_number(_as_number(found[1]), measured)
    if found := _BELOW.fullmatch(text):
        return _right_or_wrong(measured <= _as_number(found[1]))
    if found := _ABOVE.fullmatch(text):
        return _right_or_wrong(measured >= _as_number(found[1]))
    if found := _RANGE.fullmatch(text):
        return _right_or_wrong(_as_number(found[1]) <= measured <= _as_number(found[2]))
    return None


def _as_number(text: str) -> int | float:
    digits = text.replace(",", "")
    return int(digits) if re.fullmatch(r"[-+]?\d+", digits) else float(digits)


def _judge_number(prediction: Any, measured: float) -> Answer | None:
    return _judge_numbers(prediction, measured) if isinstance(prediction, int | float) else None


def _judge_numbers(prediction: float, measured: float) -> Answer:
    if prediction == measured or (prediction != prediction and measured != measured):
        return "right"
    if (
        abs(prediction) == float("inf")
        or abs(measured) == float("inf")
        or prediction + measured != prediction + measured
    ):
        return "wrong"
    if isinstance(measured, float) and 0 < measured <= 1 < prediction <= 100:
        return _judge_distance(prediction / 100, measured)
    if isinstance(measured, int) and float(prediction).is_integer():
        return (
            _judge_distance(prediction, measured, RIGHT_COUNT_WITHIN_FRACTION)
            if _is_round_figure(prediction)
            else "wrong"
        )
    return _judge_distance(prediction, measured)


def _is_round_figure(number: float) -> bool:
    return abs(number) >= 20 and number % 10 == 0 and len(str(abs(int(number))).rstrip("0")) <= 2


def _judge_distance(prediction: float, measured: float, near: float = RIGHT_WITHIN_FRACTION) -> Answer:
    distance, smaller = abs(prediction - measured), min(abs(prediction), abs(measured))
    if smaller < MAX_SIZE_OF_ZERO:
        larger = max(abs(prediction), abs(measured))
        return "right" if larger < MAX_SIZE_OF_ZERO else "close" if larger < MAX_SIZE_NEAR_ZERO else "wrong"
    has_decimals = not float(prediction).is_integer()
    rounds_to_it = has_decimals and distance <= 0.5001 * 10 ** -_decimals(prediction)
    if rounds_to_it or distance <= 1.0001 * near * smaller:  # allows for rounding errors
        return "right"
    close_within = CLOSE_DECIMAL_WITHIN_FRACTION if has_decimals else CLOSE_WITHIN_FRACTION
    return "close" if distance < close_within * smaller else "wrong"


def _decimals(number: float) -> int:
    """Return the number of decimals in the shortest notation of a number."""
    mantissa, _, exponent = f"{number!r}".partition("e")
    return len(mantissa.partition(".")[2]) * (mantissa[-2:] != ".0") - int(exponent or 0)
