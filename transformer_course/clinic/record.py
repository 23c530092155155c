"""The record of a session: admitted patients, measurements, diagnoses and their cost."""

import random
from dataclasses import dataclass, field
from functools import cache
from statistics import mean

import pandas as pd

from transformer_course.clinic.case_report import DIAGNOSES, Report
from transformer_course.clinic.findings import CRITERIA, MEASURED, finds, patient
from transformer_course.clinic.instruments import Instrument
from transformer_course.clinic.patient import Patient
from transformer_course.clinic.patients import N_PATIENTS, patient_class, report, source
from transformer_course.clinic.task import draw_pairs

WRONG_DIAGNOSIS_COST = 2
N_RANDOM_ORDERS = 400


@dataclass
class Case:
    """An admitted patient with its measurements and diagnoses.

    Args:
        number: Number of the patient.
    """

    number: int
    measurements: dict[str, pd.DataFrame] = field(default_factory=dict)
    """Measurements by instrument name."""
    wrong: list[str] = field(default_factory=list)
    """Letters of the wrong diagnoses."""
    closed: bool = False
    """Whether the correct diagnosis has been made."""

    @property
    def patient(self) -> Patient:
        """The trained patient."""
        return patient(self.number)

    @property
    def complaint(self) -> str:
        """The problem reported by the owner."""
        return patient_class(self.number).complaint

    def losses(self) -> pd.DataFrame:
        """Return the losses of the patient and its healthy twin at each step. This is not counted as a measurement."""
        losses = pd.DataFrame({"patient": self.patient.losses, "healthy twin": self.patient.twin().losses})
        return losses.set_index(losses.index + 1).rename_axis("step")

    def answers(self, n: int = 6) -> pd.DataFrame:
        """Return answers to words outside the training set. This is not counted as a measurement."""
        pairs = draw_pairs(n, "held out")
        answers = self.patient.answer([question for question, _ in pairs])
        table = [(question, mine, mine == right) for (question, right), mine in zip(pairs, answers, strict=True)]
        return pd.DataFrame(table, columns=["question", "answer", "right"])

    def measure(self, instrument: Instrument) -> pd.DataFrame:
        """Measure the patient. A repeated measurement is not counted."""
        if instrument.__name__ not in self.measurements:
            self.measurements[instrument.__name__] = instrument(self.patient)
        return self.measurements[instrument.__name__]

    def normal(self, instrument: Instrument) -> pd.DataFrame:
        """Measure the healthy twin. This is not counted as a measurement."""
        return instrument(self.patient.twin())

    def diagnose(self, letter: str) -> str:
        """Record a diagnosis by its letter in ``DIAGNOSES``. Return whether it is correct and, if not, the reasons.

        Raises:
            ValueError: The letter is not in ``DIAGNOSES``.
        """
        if letter not in DIAGNOSES:
            raise ValueError(f"unknown diagnosis {letter!r}; choose one of {', '.join(DIAGNOSES)}")
        if letter == report(self.number).diagnosis:
            self.closed = True
            return f"Right: {DIAGNOSES[letter]}."
        if letter not in self.wrong:
            self.wrong.append(letter)
        message = self._contradictions(letter) or ["None of your measurements rules it out."]
        return " ".join(["Not this one.", *message])

    def report(self) -> Report:
        """Return the report: the bug, its repair, its source and the test that would have caught it.

        Raises:
            ValueError: The case is not closed.
        """
        if not self.closed:
            raise ValueError(f"the case of patient {self.number} is still open: make the correct diagnosis first")
        return report(self.number)

    def source(self) -> str:
        """Return the code that differs from the healthy twin.

        Raises:
            ValueError: The case is not closed.
        """
        self.report()
        return source(self.number)

    @property
    def score(self) -> int:
        """The number of measurements, plus two for each wrong diagnosis."""
        return len(self.measurements) + WRONG_DIAGNOSIS_COST * len(self.wrong)

    def _contradictions(self, letter: str) -> list[str]:
        """List the measurements that rule out a diagnosis because its bug would have produced a different result."""
        others = [n for n in MEASURED if report(n).diagnosis == letter]
        lines = []
        for instrument in CRITERIA:
            name = instrument.__name__
            if name not in self.measurements:
                continue
            found = finds(instrument, self.number, measured=self.measurements[name])
            if others and all((name in MEASURED[n]) != found for n in others):
                observed, predicted = ("differs from", "match") if found else ("matches", "differ")
                lines.append(f"Your {name} {observed} the healthy twin's. With this bug, it would {predicted}.")
        return lines


class Clinic:
    """All cases of a session and their scores.

    >>> clinic = Clinic()
    >>> clinic.admit(8).complaint
    'Its probabilities cannot be reproduced, not even on the same machine.'
    """

    def __init__(self) -> None:
        self.cases: dict[int, Case] = {}

    def admit(self, number: int) -> Case:
        """Return the case of a patient, creating it on the first call.

        Raises:
            ValueError: There is no patient with this number.
        """
        if not 1 <= number <= N_PATIENTS:
            raise ValueError(f"the patient's number must be from 1 to {N_PATIENTS}; got {number}")
        return self.cases.setdefault(number, Case(number))

    def summary(self) -> pd.DataFrame:
        """Return one row per case: its cost, the mean score of a random bot, and whether the case is closed.

        The last row sums over the closed cases.
        """
        columns = ["patient", "measurements", "wrong diagnoses", "score", "score of the bot", "closed"]
        rows = [
            (n, len(c.measurements), len(c.wrong), c.score, round(score_at_random(n), 1), c.closed)
            for n, c in sorted(self.cases.items())
        ]
        if closed := [row for row in rows if row[-1]]:
            rows.append(("all closed", *(sum(numbers) for numbers in list(zip(*closed, strict=True))[1:-1]), True))
        return pd.DataFrame(rows, columns=columns)


@cache
def score_at_random(number: int) -> float:
    """Return the mean score, on one patient, of a bot that measures in random order and draws perfect conclusions.

    The bot uses the table of stored findings, which lists the instruments that detect each diagnosis. It uses the
    instruments in random order until only one diagnosis fits all results. If several diagnoses remain at the end, it
    tries them in random order.
    """
    draw = random.Random(number)
    return mean(_score_in_order(number, draw) for _ in range(N_RANDOM_ORDERS))


def _score_in_order(number: int, draw: random.Random) -> int:
    order = draw.sample([instrument.__name__ for instrument in CRITERIA], len(CRITERIA))
    fit, n_measured = list(MEASURED), 0
    while len({_letter(other) for other in fit}) > 1 and n_measured < len(order):
        name = order[n_measured]
        fit = [other for other in fit if (name in MEASURED[other]) == (name in MEASURED[number])]
        n_measured += 1
    remaining = sorted({_letter(other) for other in fit})
    n_wrong = draw.sample(remaining, len(remaining)).index(_letter(number))
    return n_measured + WRONG_DIAGNOSIS_COST * n_wrong


@cache
def _letter(number: int) -> str:
    return report(number).diagnosis
