"""Record the comparisons that a lesson's code evaluates."""

import operator
from collections import defaultdict
from collections.abc import Callable, Iterable
from decimal import Decimal, InvalidOperation
from typing import Any

import pandas as pd
import torch

OPERATORS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
MAX_EVALUATIONS = 200
"""A comparison that one cell evaluates more often than this is part of a loop and does not count as a claim."""

BoundedNumber = tuple[float, float | None, float | None]
"""A number, with the lower and upper bound (or None) within which the lesson's output does not change."""


class Watch:
    """A record of the numbers that determine a cell's output, each with its bounds."""

    def __init__(self) -> None:
        self.observed = defaultdict[str, list[BoundedNumber]](list)

    def take(self) -> dict[str, list[BoundedNumber]]:
        """Return the records since the last call, and clear them."""
        taken = {text: observed for text, observed in self.observed.items() if len(observed) <= MAX_EVALUATIONS}
        self.observed.clear()
        return taken

    def compare(self, text: str, operators: str, values: tuple[Any, ...]) -> Any:
        results = [OPERATORS[op](a, b) for op, a, b in _pairs(operators, values)]
        numbers = [_number(value) for value in values]
        if all(number is not None for number in numbers):
            self._margin(text, _signed(operators, numbers))
        return results[0] if len(results) == 1 else all(results)

    def each(self, text: str, how: str, operators: str, values: tuple[Any, ...]) -> Any:
        result = self.compare(text, operators, values)
        if isinstance(result, torch.Tensor) and result.numel() > 1:
            a, b = (torch.as_tensor(value).double() for value in values)
            difference = b - a if operators.startswith("<") else a - b
            self._margin(text, (difference.min() if how == "all" else difference.max()).item())
        return result

    def every(self, text: str, how: str, operators: str, rows: Iterable[tuple[Any, ...]]) -> bool:
        rows = list(rows)
        numbers = [[_number(value) for value in row] for row in rows]
        if rows and all(number is not None for row in numbers for number in row):
            margins = [_signed(operators, row) for row in numbers]
            self._margin(text, min(margins) if how == "all" else max(margins))
        outcomes = [all(OPERATORS[op](a, b) for op, a, b in _pairs(operators, row)) for row in rows]
        return all(outcomes) if how == "all" else any(outcomes)

    def formatted(self, text: str, value: Any, spec: str) -> str:
        displayed = format(value, spec)
        number = _number(value)
        if number is not None and not isinstance(value, int):
            self._rounded(text, number, displayed)
        return displayed

    def round(self, text: str, value: Any, digits: int | None = None) -> Any:
        result = round(value) if digits is None else round(value, digits)
        number = _number(value)
        if number is not None and not isinstance(value, int):
            self._rounded(text, number, f"{number:.{max(digits or 0, 0)}f}", 10.0 ** -(digits or 0))
        return result

    def round_all(self, text: str, value: Any, digits: int | dict[str, int] = 0) -> Any:
        result = value.round(decimals=digits) if isinstance(value, torch.Tensor) else value.round(digits)
        table = value.to_frame() if isinstance(value, pd.Series) else value
        if isinstance(table, pd.DataFrame):
            for name, column in table.select_dtypes(float).items():
                places = digits.get(str(name)) if isinstance(digits, dict) else digits
                for number in column.tolist() if places is not None else ():
                    self._rounded(text, number, f"{number:.{places}f}")
        return result

    def best(self, text: str, choose: Callable[..., Any], *options: Any, key: Callable[[Any], Any]) -> Any:
        options = tuple(options[0]) if len(options) == 1 else options
        keys = [number for option in options if (number := _number(key(option))) is not None]
        if len(keys) == len(options) > 1:
            first, second = sorted(keys, reverse=choose is max)[:2]
            self._margin(text, abs(first - second))
        return choose(options, key=key)

    def measured(self, text: str, value: Any) -> Any:
        number = _number(value)
        if number is not None and (isinstance(value, float) or getattr(value, "is_floating_point", bool)()):
            self._rounded(text, number, f"{number:.2e}")  # `compare` prints three digits
        return value

    def _margin(self, text: str, value: float) -> None:
        self.observed[text].append((value, *((0.0, None) if value > 0 else (None, 0.0))))

    def _rounded(self, text: str, value: float, displayed: str, unit: float | None = None) -> None:
        try:
            percent = 100 if displayed.strip().endswith("%") else 1
            number = Decimal(displayed.strip().rstrip("%").replace(",", ""))
            half = (unit or 10.0 ** int(number.as_tuple().exponent) / percent) / 2
        except (InvalidOperation, TypeError, ValueError):
            return
        middle = float(number) / percent if unit is None else round(value / unit) * unit
        self.observed[text].append((value, middle - half, middle + half))


def _pairs(operators: str, values: tuple[Any, ...]) -> list[tuple[str, Any, Any]]:
    return list(zip(operators.split(), values, values[1:], strict=False))


def _signed(operators: str, numbers: Any) -> float:
    """Return the amount by which a comparison holds, or a negative amount if it does not hold."""
    return min(b - a if op.startswith("<") else a - b for op, a, b in _pairs(operators, numbers))


def _number(value: Any) -> float | None:
    """Return a value as a float, or None if it is not a single number."""
    if isinstance(value, torch.Tensor | pd.Series | pd.DataFrame):
        return float(value) if isinstance(value, torch.Tensor) and value.numel() == 1 else None
    try:
        return None if isinstance(value, str | bytes) else float(value)
    except (TypeError, ValueError):
        return None
