"""The learner's record, a file with a line of JSON for each event.

Events are the first pass of each exercise, the first prediction of each comparison, the first time that a check reports
each mistake, and all reviews. The file is next to the folder of saved parts, so deleting the parts does not delete
passes. The record is never sent anywhere.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

FILE = "progress.jsonl"
ANSWERS = ("right", "close", "wrong")
RATINGS = ("again", "hard", "good", "easy")


@dataclass(frozen=True)
class Prediction:
    """A prediction that was compared with a measurement.

    Attributes:
        cell: The id of the cell and the number of the comparison in that cell, such as ``"one-vector:1"``.
        answer: ``"right"``, ``"close"`` or ``"wrong"``.
        sure: The learner's confidence, from 0 to 1, or None if the learner gave no confidence.
        said: The prediction, as text.
        measured: The measurement, as text.
    """

    cell: str
    answer: str
    sure: float | None
    said: str
    measured: str

    def __post_init__(self) -> None:
        texts = (self.cell, self.said, self.measured)
        is_text = all(isinstance(text, str) for text in texts)
        is_sure = self.sure is None or (isinstance(self.sure, int | float) and 0 <= self.sure <= 1)
        if not (is_text and is_sure and self.answer in ANSWERS):
            raise ValueError(f"invalid prediction: {self}")


@dataclass(frozen=True)
class Review:
    """An exercise or a question that was practiced.

    Attributes:
        card: The name of the exercise, or the question's name in the practice material.
        rating: ``"again"``, ``"hard"``, ``"good"`` or ``"easy"``.
        when: The time, with time zone.
    """

    card: str
    rating: str
    when: datetime

    def __post_init__(self) -> None:
        if not (isinstance(self.card, str) and self.rating in RATINGS and self.when.tzinfo):
            raise ValueError(f"invalid review: {self}")


@dataclass(frozen=True)
class Progress:
    """The content of a record.

    Attributes:
        passed: The time of each exercise's first pass, keyed by name, in file order.
        predictions: The first prediction for each comparison, keyed by cell, in file order.
        messages: The messages that checks have reported for each exercise, without duplicates: names of mistakes,
            ``wrong`` or ``crashed``.
        reviews: The reviews, in the order of the file.
        problems: Messages about the file or about lines that could not be read.
    """

    passed: dict[str, datetime] = field(default_factory=dict)
    predictions: dict[str, Prediction] = field(default_factory=dict)
    messages: dict[str, list[str]] = field(default_factory=dict)
    reviews: list[Review] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def record_pass(folder: Path, exercise: str) -> None:
    """Record that an exercise passed, unless an earlier pass is recorded.

    Raises:
        OSError: The record cannot be read or written.
    """
    if exercise not in read_progress(folder, strict=True).passed:
        _add(folder, {"exercise": exercise, "passed": datetime.now(UTC).isoformat(timespec="seconds")})


def record_prediction(folder: Path, prediction: Prediction) -> None:
    """Record a prediction, unless an earlier prediction for the same comparison is recorded.

    Raises:
        OSError: The record cannot be read or written.
    """
    if prediction.cell not in read_progress(folder, strict=True).predictions:
        _add(folder, {"prediction": asdict(prediction)})


def record_messages(folder: Path, exercise: str, messages: Iterable[str]) -> None:
    """Record the messages that a check reported for an exercise, except messages that are already recorded.

    Raises:
        OSError: The record cannot be read or written.
    """
    recorded = read_progress(folder, strict=True).messages.get(exercise, [])
    for name in messages:
        if name not in recorded:
            _add(folder, {"exercise": exercise, "message": name})


def record_review(folder: Path, review: Review) -> None:
    """Record a review.

    Raises:
        OSError: The record cannot be written.
    """
    when = review.when.astimezone(UTC).isoformat(timespec="seconds")
    _add(folder, {"practiced": review.card, "rating": review.rating, "when": when})


def read_progress(folder: Path, strict: bool = False) -> Progress:
    """Read the valid lines of the record in a folder. Without a record, the progress is empty.

    Args:
        folder: The learner's folder.
        strict: Whether an unreadable file raises an error instead of being reported in ``problems``.

    Raises:
        OSError: The file cannot be read, and ``strict`` is True.
    """
    progress = Progress()
    try:
        for number, entry in enumerate(_entries(folder / FILE), start=1):
            match entry:
                case (str(exercise), datetime() as when):
                    progress.passed.setdefault(exercise, when)
                case (str(exercise), str(name)):
                    progress.messages.setdefault(exercise, []).append(name)
                case Prediction():
                    progress.predictions.setdefault(entry.cell, entry)
                case Review():
                    progress.reviews.append(entry)
                case _:
                    progress.problems.append(
                        f"line {number} of {FILE} is not a record of a pass, a prediction, a mistake or a review"
                    )
    except OSError as error:
        if strict:
            raise
        progress.problems.append(f"{FILE} cannot be read: {error.strerror}")
    return progress


def _add(folder: Path, entry: dict[str, Any]) -> None:
    path = folder / FILE
    is_incomplete = path.exists() and path.read_bytes()[-1:] not in (b"", b"\n")
    # append with a single write, because several kernels may write at the same time
    with path.open("a", encoding="utf-8") as file:
        file.write("\n" * is_incomplete + json.dumps(entry) + "\n")


def _entries(path: Path) -> Iterator[tuple[str, datetime | str] | Prediction | Review | None]:
    """Yield the content of each line: a pass, a mistake, a prediction or a review, or None for an invalid line."""
    if not path.exists():
        return
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            entry: dict[str, Any] = json.loads(line)
            if "prediction" in entry:
                yield Prediction(**entry["prediction"])
            elif name := entry.get("message", entry.get("told")):  # earlier versions wrote "told"
                yield str(entry["exercise"]), str(name)
            elif "practiced" in entry:
                when = datetime.fromisoformat(entry["when"]).astimezone(UTC)
                yield Review(entry["practiced"], entry["rating"], when)
            else:
                yield str(entry["exercise"]), datetime.fromisoformat(entry["passed"]).astimezone(UTC)
        except (ValueError, TypeError, AttributeError, KeyError, OverflowError):
            yield None
