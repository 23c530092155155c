"""Test that every claim about training holds with a sufficient margin in ten runs of its lesson."""

import ast
import json
import math
import os
import statistics
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import nbformat
import pandas as pd
import pytest
import torch
from nbformat import NotebookNode

from notebooks.build import lessons
from tests.margins.claims import Claim, Margin, claim_margin, claims, recorded_margins, training_dependent_cells
from tests.margins.code import book, fingerprints, instrumented
from tests.margins.runs import INSTRUCTIONS, NOISY, PLAN, PUBLISHED, ROOT
from tests.margins.stored import read, violations, without_second_setting
from tests.margins.watch import Watch


@pytest.mark.parametrize("lesson", lessons())
def test_claims_about_training_hold_on_any_machine(lesson: str) -> None:
    found = list(violations(lesson, book(lesson), claims(lesson), read(lesson)))
    assert not found, "\n".join(found)


@pytest.mark.parametrize("lesson", lessons())
def test_comparisons_have_second_setting_or_name_their_setting(lesson: str) -> None:
    assert not [claim.sentence for claim in without_second_setting(claims(lesson))]


def book_with(
    displayed: str = 'print("above 0.9:", right > 0.9)', tag: str = "", text: str = "It is *nearly always* right."
) -> NotebookNode:
    train = nbformat.v4.new_code_cell("right = train(steps=100)", id="train")
    show = nbformat.v4.new_code_cell(displayed, id="show", metadata={"tags": [tag] if tag else []})
    return nbformat.v4.new_notebook(cells=[train, show, nbformat.v4.new_markdown_cell(text, id="text")])


def measured(lesson: NotebookNode, *margins: Margin) -> dict[str, Any]:
    runs = dict.fromkeys(INSTRUCTIONS, 5)
    return {"runs": runs, "cells": fingerprints(lesson), "margins": [vars(m) for m in margins], "differences": []}


SAFE = Margin("show", "right > 0.9", 10, least=0.05, mean=0.07, largest=0.09, deviation=0.01, above=0, below=None)
CLAIM = Claim("train", "right", "It is nearly always right.", above=0.9)
CLAIM_MARGIN = Margin("train", "right", 10, 0.95, 0.97, 0.99, 0.01, above=0.9, below=None)

REJECTED: dict[str, Callable[[], tuple[NotebookNode, list[Claim], dict[str, Any] | None]]] = {
    "the lesson has no measurements": lambda: (book_with(), [], None),
    "show: right > 0.9 was measured in 9 runs": lambda: (book_with(), [], measured(book_with(), replace(SAFE, n=9))),
    "out of bounds in a run: -0.01 to": lambda: (book_with(), [], measured(book_with(), replace(SAFE, least=-0.01))),
    "2.9 standard deviations": lambda: (book_with(), [], measured(book_with(), replace(SAFE, deviation=0.0241))),
    "the code of show has changed": lambda: (book_with("print(right > 0.8)"), [], measured(book_with(), SAFE)),
    "train: right has no measured margin": lambda: (book_with(), [CLAIM], measured(book_with(), SAFE)),
    "does not contain “It is nearly always right.”": lambda: (
        book_with(text="It is often right."), [CLAIM], measured(book_with(), SAFE, CLAIM_MARGIN),
    ),
    "has no measured margin": lambda: (
        book_with(), [replace(CLAIM, above=0.99)], measured(book_with(), SAFE, CLAIM_MARGIN),
    ),
    "train: right - 0.1 has no measured margin": lambda: (
        book_with(), [replace(CLAIM, second="right - 0.1")], measured(book_with(), SAFE, CLAIM_MARGIN),
    ),
    "does not contain “after 100 steps”": lambda: (
        book_with(), [replace(CLAIM, setting="after 100 steps")], measured(book_with(), SAFE, CLAIM_MARGIN),
    ),
    "the lesson was not run with the instructions avx2, default": lambda: (
        book_with(), [], {**measured(book_with(), SAFE), "runs": {"as it is": 10}},
    ),
    "show: the text is different in avx2-0": lambda: (
        book_with(), [], {**measured(book_with(), SAFE), "differences": [{"cell": "show", "runs": ["avx2-0"]}]},
    ),
}  # fmt: skip


@pytest.mark.parametrize("message", REJECTED)
def test_rejects_a_claim_without_a_margin(message: str) -> None:
    lesson, claim, stored = REJECTED[message]()
    [only] = violations("05_positions", lesson, claim, stored)
    assert message in only


def test_accepts_a_claim_with_a_margin() -> None:
    assert not [*violations("05_positions", book_with(), [CLAIM], measured(book_with(), SAFE, CLAIM_MARGIN))]


def test_cell_without_comparison_needs_margin_only_for_claims() -> None:
    lesson, claim = book_with(tag="nbval-ignore-output"), replace(CLAIM, cell="show")
    wrong = measured(lesson, replace(SAFE, least=-1), replace(CLAIM_MARGIN, cell="show", least=0))
    wrong["differences"] = [{"cell": "show", "runs": ["avx2-0"]}]
    assert not [*violations("05_positions", lesson, [], wrong)]
    [only] = violations("05_positions", lesson, [claim], wrong)
    assert "show: right is out of bounds in a run" in only


def test_fingerprint_ignores_words_and_comments_but_not_numbers() -> None:
    def of_show(displayed: str, train: str = "right = train(steps=100)") -> str:
        lesson = book_with(displayed)
        lesson.cells[0].source = train
        return fingerprints(lesson)["show"]

    before = of_show('print(f"more than {right > 0.9:.2f}")')
    assert of_show('print(f"above: {right > 0.9:.2f}", "!")  # so many') == before
    assert of_show('print(f"more than {right > 0.8:.2f}")') != before
    assert of_show('print(f"more than {right > 0.9:.3f}")') != before
    assert of_show('print(f"more than {right > 0.9:.2f}")', "right = train(steps=99)") != before
    assert of_show('print(f"more than {right > 0.9:.2f}")', "other, right = 1, train(steps=100)") != before


CODE = """
three = torch.tensor([0.95, 0.97, 0.92])
low = 0.3
results = [
    low < 0.5,
    0.2 < low < 0.5,
    bool((three > 0.9).all()),
    bool((three > 0.96).any()),
    all(x > 0.95 for x in three.tolist()),
    f"{low:.1f} and {three[0]:.0%}",
    round(three[1].item(), 1),
    max({"a": 1.0, "b": 3.0}.items(), key=lambda item: item[1])[0],
    pd.DataFrame({"loss": [3.58], "seen": [0.4]}).round({"loss": 1}).loc[0, "loss"],
]
"""
OBSERVED = {
    "low < 0.5": (0.2, 0, None),
    "0.2 < low < 0.5": (0.1, 0, None),
    "(three > 0.9).all()": (0.02, 0, None),
    "(three > 0.96).any()": (0.01, 0, None),
    "all((x > 0.95 for x in three.tolist()))": (-0.03, None, 0),
    "low": (0.3, 0.25, 0.35),
    "three[0]": (0.95, 0.945, 0.955),
    "round(three[1].item(), 1)": (0.97, 0.95, 1.05),
    "max({'a': 1.0, 'b': 3.0}.items(), key=lambda item: item[1])": (2, 0, None),
    "pd.DataFrame({'loss': [3.58], 'seen': [0.4]}).round({'loss': 1})": (3.58, 3.55, 3.65),
}


def test_instrumenting_code_does_not_change_its_behavior() -> None:
    plain: dict[str, Any] = {"torch": torch, "pd": pd}
    watched = {**plain, "__watch__": (watch := Watch())}
    exec(CODE, plain)
    exec(compile(instrumented(ast.parse(CODE)), "cell", "exec"), watched)
    assert watched["results"] == plain["results"] == [True, True, True, True, False, "0.3 and 95%", 1.0, "b", 3.6]
    observed = {text: values for text, [values] in watch.take().items()}
    assert observed.keys() == OBSERVED.keys()
    for text, values in OBSERVED.items():
        assert [v if v is None else round(v, 6) for v in observed[text]] == list(values)


def make_run(accuracy: float) -> dict[str, Any]:
    """Return the values of a run: a constant number, an accuracy, and a cell that compares the accuracy with 0.9."""
    left = {"digests": {"right": str(accuracy)}, "data": {"right": torch.tensor([accuracy])}}
    observed = {"right > 0.9": [(accuracy - 0.9, *((0.0, None) if accuracy > 0.9 else (None, 0.0)))]}
    fixed = {"text": "6", "seen": {}, "digests": {"n": "6"}, "data": {"n": 6}}
    displayed = {"text": str(accuracy > 0.9), "seen": observed, **left}
    return {"fixed": fixed, "train": {"text": "", "seen": {}, **left}, "show": displayed}


def three_cells(first: str = "n = 6") -> NotebookNode:
    sources = {"fixed": first, "train": "right = train(steps=100)", "show": "print(right > 0.9)"}
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source, id=n) for n, source in sources.items()])


def test_cells_sensitive_to_rounding_depend_on_training() -> None:
    results = {PUBLISHED: make_run(0.95), NOISY: make_run(0.9500001)}
    assert training_dependent_cells(three_cells(), results) == {"train", "show"}
    assert training_dependent_cells(three_cells(), {PUBLISHED: make_run(0.95)}) == set(), "the lesson trains nothing"


def test_cells_using_trained_values_depend_on_training() -> None:
    results = {PUBLISHED: make_run(1.0), NOISY: make_run(1.0), PLAN[-1]: make_run(0.97)}
    assert training_dependent_cells(three_cells(), results) == set()
    results[PUBLISHED]["train"]["trains"] = True
    assert training_dependent_cells(three_cells(), results) == {"train", "show"}
    results[PLAN[-1]] = make_run(1.0)
    assert training_dependent_cells(three_cells(), results) == {"train"}, "the value is the same for every seed"


def test_margin_covers_all_runs() -> None:
    accuracies = [0.95, 0.96, 0.97, 0.94, 0.95, 0.96, 0.97, 0.94, 0.95, 0.91]
    results = {run: make_run(accuracy) for run, accuracy in zip(PLAN, accuracies, strict=True)}
    [compared] = recorded_margins("show", results)
    claim = claim_margin(Claim("train", "right.min()", "It is right.", above=0.9), results)
    for margin, line in ((compared, 0.0), (claim, 0.9)):
        assert (margin.n, margin.above, margin.below) == (10, line, None)
        assert [margin.least, margin.mean, margin.largest] == pytest.approx([line + x for x in (0.01, 0.05, 0.07)])
        assert margin.holds and margin.deviations == pytest.approx(0.05 / statistics.stdev(accuracies), rel=1e-3)

    [crossed] = recorded_margins("show", {**results, PLAN[-1]: make_run(0.89)})
    assert not crossed.holds


def test_second_setting_has_separate_margin() -> None:
    results = {run: make_run(0.95) for run in PLAN}
    claim = Claim("train", "right.min()", "It is right.", above=0.9, second="right.min() - 0.1")
    first, second = (claim_margin(claim, results, value) for value in claim.values)
    assert first.holds and not second.holds and second.what == "right.min() - 0.1"


COMPARISON = Claim("train", "right['A'] - right['B']", "A is better than B.", above=0)


@pytest.mark.parametrize(
    ("changes", "n"),
    [
        ({}, 1),
        ({"second": "longer['A'] - longer['B']"}, 0),
        ({"setting": "after 100 steps"}, 0),
        ({"kinds": False}, 0),
        ({"value": "right['A'].mean()"}, 0),
        ({"value": "right['A'].mean()", "kinds": True}, 1),
        ({"above": 0.9}, 0),
    ],
)
def test_comparisons_need_a_second_setting(changes: dict[str, Any], n: int) -> None:
    assert len(without_second_setting([replace(COMPARISON, **changes)])) == n


def test_rejects_claim_about_undefined_number():
    cell = {"train": {"data": {}, "seen": {}}}
    with pytest.raises(
        ValueError, match=r"'It is right.': cannot evaluate right after train: name 'right' is not defined"
    ):
        claim_margin(Claim("train", "right", "It is right.", above=0.9), {PUBLISHED: cell})
    with pytest.raises(ValueError, match=r"^the lesson has no code cell test$"):
        claim_margin(Claim("test", "right", "It is right.", above=0.9), {PUBLISHED: cell})


def test_constant_number_is_not_a_claim_about_training() -> None:
    assert not [*recorded_margins("show", dict.fromkeys(PLAN, make_run(0.95)))]


@pytest.mark.parametrize(("values", "deviations"), [([0.95] * 10, math.inf), ([0.85] * 10, -math.inf)])
def test_constant_number_has_infinite_margin(values: list[float], deviations: float) -> None:
    assert Margin.of_values("show", "right", values, 0.9, None).deviations == deviations


TRAINED = """
import torch
_ = torch.manual_seed(0)
drawn = torch.rand(3)
weight = torch.nn.Parameter(torch.ones(3))
optimizer = torch.optim.SGD([weight], lr=0.1)
(weight * drawn).sum().backward()
optimizer.step()
"""
DISPLAYED = 'print(f"{weight.sum():.1f}", drawn.numel())'
RUNS = """
import json, sys
import nbformat
from tests.margins import run

train, show, changed = json.loads(sys.argv[1])
cells = [nbformat.v4.new_code_cell(source, id=name) for name, source in (("train", train), ("show", show))]
lesson, found = nbformat.v4.new_notebook(cells=cells), {}
for name, seed, noise in (("published", 0, 0.0), ("noisy", 0, run.NOISE_SCALE), ("another seed", 1, 0.0)):
    with run.as_on_another_machine(seed, noise):
        found[name] = run.execute(lesson, {})
lesson.cells[1].source, run.MIN_CACHED_CELL_S = changed, 0.0
found["changed"] = run.execute(lesson, {**found["published"], "train": found["published"]["train"] | {"text": "kept"}})
print(json.dumps({name: [[c["text"], c["seen"], c["digests"]] for c in run.values()] for name, run in found.items()}))
"""


@pytest.fixture(scope="module")
def runs() -> Any:
    """The displayed text, comparisons and values of a lesson's cells, from runs in separate processes."""
    arguments = json.dumps([TRAINED, DISPLAYED, DISPLAYED.replace(".1f", ".2f")])
    command, environment = [sys.executable, "-c", RUNS, arguments], {**os.environ, "PYTHONPATH": str(ROOT)}
    return json.loads(subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout)


def test_run_records_output_and_underlying_numbers(runs: Any) -> None:
    _, (text, observed, _) = runs["published"]
    assert text.split() == ["2.9", "3"]
    [(total, above, below)] = observed["weight.sum()"]
    assert (above, below) == pytest.approx((2.85, 2.95)) and above < total < below


def test_noise_changes_training_and_seed_changes_samples(runs: Any) -> None:
    (_, _, published), (_, observed, _) = runs["published"]
    (_, _, noisy), (_, seen_with_noise, _) = runs["noisy"]
    assert noisy["drawn"] == published["drawn"] and noisy["weight"] != published["weight"]
    assert observed["weight.sum()"][0][0] == pytest.approx(seen_with_noise["weight.sum()"][0][0], abs=1e-5)
    assert runs["another seed"][0][2]["drawn"] != published["drawn"]


def test_slow_cells_do_not_rerun_after_later_change(runs: Any) -> None:
    (kept, _, _), (text, _, _) = runs["changed"]
    assert kept == "kept" and len(text.split()[0]) == len("2.87")
