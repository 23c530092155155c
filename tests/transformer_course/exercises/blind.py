"""Measure how well attempts are explained: ``python -m tests.transformer_course.exercises.blind [FOLDER]``.

The authors of the attempts had not seen any mistakes or generated mistakes. ``blind_attempts`` contains one file per
lesson and one attempt per line. An attempt has an exercise, a kind (``single``, ``pair`` or ``right``), code, and a
description of its mistakes. FOLDER may also contain one module per exercise with a list ``ATTEMPTS`` of dicts. Their
keys are ``id``, ``kind`` (``one``, ``two`` or ``right``) and ``code``. In the code, every mistake is marked
``⟦right¦wrong⟧``. The stored attempts were used to improve the messages, so only attempts in a different FOLDER measure
how well the check explains unseen attempts. ``--mutants N`` uses N random changes to the solutions instead, spread
evenly over the exercises. ``--list`` prints the verdicts on the attempts that are neither named nor located.

An attempt is *named* if the verdict reports a mistake, a generated mistake or the step after which the attempt stops.
If the verdict reports only a line, as for a crash, the attempt is *located* if this line is marked, *misled* if only
other lines are marked, and *placed* if no lines are marked. For two mistakes, the verdict reports *both* or *one*. A
random change is *equivalent* if it passes and is also correct on the cases of other seeds. Equivalent changes are not
counted.
"""

import argparse
import ast
import copy
import importlib.util
import itertools
import json
import random
import re
import statistics
import time
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from tests.transformer_course.cells import cell
from transformer_course.checking.general_mistakes import (
    CHANGES_ARGUMENT,
    CHANGES_MODE,
    GRADIENT_CUT,
    REMEMBERS_A_CALL,
)
from transformer_course.checking.judge import judge
from transformer_course.checking.verdict import Verdict
from transformer_course.exercises import every_exercise
from transformer_course.exercises.shared.library_parts import parts
from transformer_course.lesson.session import Session
from transformer_course.running.observe import observe_all
from transformer_course.running.time_limit import SECONDS_PER_CHECK

FOLDER = Path(__file__).parent / "blind_attempts"
BANK_FOLDER = Path(__file__).parent / "bank_attempts"
KINDS = {"single": "one", "pair": "two", "right": "right"}
MARK = re.compile(r"⟦(.*?)¦(.*?)⟧", re.DOTALL)
IMPORTS = """\
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
import numpy as np
import torch
from jaxtyping import Bool, Float, Int, Int8
from torch import Tensor, nn
from torch.nn import functional as F
"""
TWO_BUGS = "Your code has two bugs."
GOOD_OUTCOMES = ("named", "located", "placed", "both")
OTHER_SEEDS = (1, 2, 3)
GENERAL = (CHANGES_ARGUMENT, CHANGES_MODE, GRADIENT_CUT, REMEMBERS_A_CALL)


@dataclass(frozen=True)
class Attempt:
    """Code that answers an exercise, and the lines that are wrong."""

    exercise: str
    id: str
    kind: str
    code: str
    lines: frozenset[int]


def read(folder: Path) -> Iterator[Attempt]:
    """Read the attempts in a folder."""
    for path in sorted(folder.glob("*.py")):
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        for row in module.ATTEMPTS:
            yield Attempt(path.stem, row["id"], row["kind"], *with_mistakes(row["code"].lstrip("\n")))
    for path in sorted(folder.glob("*.jsonl")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            row = json.loads(line)
            yield Attempt(row["exercise"], f"{path.stem}:{number}", KINDS[row["kind"]], row["code"], frozenset())


def with_mistakes(marked: str) -> tuple[str, frozenset[int]]:
    """Return the code with its marked mistakes inserted, and the lines of the mistakes."""
    lines: set[int] = set()
    while mark := MARK.search(marked):
        first = marked.count("\n", 0, mark.start()) + 1
        lines.update(range(first, first + mark[2].count("\n") + 1))
        marked = marked[: mark.start()] + mark[2] + marked[mark.end() :]
    return marked, frozenset(lines)


class Change(ast.NodeTransformer):
    """A random change to one node of a syntax tree.

    Args:
        rng: The random number generator.
        index: The index of the node.
        names: The names that may replace a name in the code.
    """

    def __init__(self, rng: random.Random, index: int, names: Sequence[str]) -> None:
        self.rng, self.index, self.names, self.n_visited, self.line = rng, index, names, 0, 0

    def generic_visit(self, node: ast.AST) -> ast.AST:
        self.n_visited += 1
        if self.n_visited - 1 == self.index and (new := self._changed(node)) is not None:
            self.line = getattr(node, "lineno", 0)
            return ast.copy_location(new, node)
        return super().generic_visit(node)

    def _changed(self, node: ast.AST) -> ast.AST | None:
        match node:
            case ast.BinOp(left, op, right):
                other = self.rng.choice([ast.Add(), ast.Sub(), ast.Mult(), ast.Div()])
                choices = [ast.BinOp(left, other, right), ast.BinOp(right, op, left), left, right]
                return self.rng.choice(choices)
            case ast.Compare(left, [_], [right]):
                return ast.Compare(
                    left, [self.rng.choice([ast.Lt(), ast.LtE(), ast.Gt(), ast.GtE(), ast.Eq()])], [right]
                )
            case ast.Constant(value) if type(value) in (int, float):
                return ast.Constant(self.rng.choice([value + 1, value - 1, 2 * value, -value]))
            case ast.Constant(True | False as value):
                return ast.Constant(not value)
            case ast.UnaryOp(_, operand):
                return operand
            case ast.Call(func, args, keywords) if keywords and self.rng.random() < 0.5:
                removed = self.rng.choice(keywords)
                return ast.Call(func, args, [keyword for keyword in keywords if keyword is not removed])
            case ast.Call(ast.Attribute(value, _), _, _) if ast.unparse(value) not in (
                "torch",
                "F",
                "math",
                "nn",
                "self",
                "parts",
                "np",
            ):
                return value
            case ast.Call(func, [first, second, *rest], keywords) if self.rng.random() < 0.5:
                return ast.Call(func, [second, first, *rest], keywords)
            case ast.Call(ast.Attribute(ast.Name("torch" | "F" | "math")), [first, *_], _):
                return first
            case ast.Name(name, ast.Load()) if name in self.names:
                others = [other for other in self.names if other != name]
                return ast.Name(self.rng.choice(others or [name]), ast.Load())
        return None


def mutants(right: Attempt, n: int, rng: random.Random) -> Iterator[Attempt]:
    """Yield randomly changed versions of a correct answer. Some versions may also be correct."""
    tree = ast.parse(right.code)
    code = ast.unparse(tree)  # normalizes the code, so that a change preserves line numbers
    tree = ast.parse(code)
    body = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name != "__init__"]
    names = sorted({n.id for f in body for n in ast.walk(f) if isinstance(n, ast.Name)} & _variables(body))
    found = {code}
    for number in range(60 * n):
        if len(found) > n:
            return
        change = Change(rng, rng.randrange(sum(1 for _ in ast.walk(tree))), names)
        changed = copy.deepcopy(tree)
        for function in ast.walk(changed):
            if isinstance(function, ast.FunctionDef) and function.name != "__init__":
                function.body = [change.visit(statement) for statement in function.body]
        mutant = ast.unparse(ast.fix_missing_locations(changed))
        if change.line and mutant not in found:
            found.add(mutant)
            yield Attempt(right.exercise, f"{right.id}~{number}", "mutant", mutant, frozenset({change.line}))


def draw_mutants(n: int, only: Collection[str] = ()) -> list[Attempt]:
    """Draw random changes to the solutions, about the same number for each exercise.

    Args:
        n: The total number of changes.
        only: The names of the exercises to use. If empty, all exercises are used.
    """
    rng = random.Random(7)
    exercises = [exercise for exercise in every_exercise().values() if not only or exercise.name in only]
    n_each = -(-n // len(exercises))
    by_exercise = []
    for exercise in exercises:
        right = Attempt(exercise.name, exercise.name, "right", exercise.solution, frozenset())
        by_exercise.append(list(mutants(right, n_each, rng)))
    in_turn = [mutant for row in itertools.zip_longest(*by_exercise) for mutant in row if mutant is not None]
    return sorted(in_turn[:n], key=lambda mutant: mutant.exercise)


def is_equivalent(mutant: Attempt) -> bool:
    """Return whether an attempt is correct on the cases of several seeds that the lessons do not use."""
    exercise, attempt = every_exercise()[mutant.exercise], defined(mutant)
    for seed in OTHER_SEEDS:
        observed = observe_all(attempt, list(exercise.cases(seed)), SECONDS_PER_CHECK)
        if not judge(exercise, seed, observed).passed:
            return False
    return True


def _variables(functions: Sequence[ast.FunctionDef]) -> set[str]:
    """Return the names of the arguments and local variables in some code."""
    stored = {n.id for f in functions for n in ast.walk(f) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return stored | {a.arg for f in functions for a in f.args.args} - {"self"}


def outcome(verdict: Verdict, attempt: Attempt) -> str:
    """Classify how well a verdict explains an attempt."""
    names = [name for name in verdict.mistakes if name not in GENERAL]
    lines = {int(n) for n in re.findall(r"^(?: *[lL]|On your l)ine (\d+):", verdict.message, re.MULTILINE)}
    is_named = bool(verdict.mistakes) or verdict.status == "half_finished"
    n_named = len(names) + bool({CHANGES_ARGUMENT, CHANGES_MODE}.intersection(verdict.mistakes))
    if verdict.passed:
        return "passed"
    if attempt.kind == "right":
        return "rejected"
    if attempt.kind == "two" and (n_named > 1 or verdict.message.startswith(TWO_BUGS)):
        return "both"
    if is_named:
        return "one" if attempt.kind == "two" else "named"
    if not lines:
        return "neither"
    if not attempt.lines:
        return "placed"
    return "located" if lines & attempt.lines else "misled"


def defined(attempt: Attempt) -> Any:
    """Return the function or class that an attempt defines."""
    scope: dict[str, object] = {}
    exec(IMPORTS, scope)
    scope.pop("__builtins__")
    return cell(attempt.code, attempt.exercise, parts=parts, **scope)


def check(attempt: Attempt, session: Session) -> Verdict:
    """Return the verdict on an attempt."""
    return session.check(defined(attempt), attempt.exercise)


def measure(attempts: Sequence[Attempt], *, lists: bool = False) -> dict[str, Counter[str]]:
    """Check attempts, and count the outcomes for each kind of attempt.

    Args:
        attempts: The attempts.
        lists: Whether to print the verdicts on attempts that are not explained.
    """
    counts: dict[str, Counter[str]] = {}
    seconds: list[float] = []
    session = Session(every_exercise())
    for attempt in attempts:
        started = time.process_time()
        try:
            verdict = check(attempt, session)
        except Exception as error:
            print(f"{attempt.id} raised {error!r}")
            continue
        seconds.append(time.process_time() - started)
        result = outcome(verdict, attempt)
        if attempt.kind == "mutant" and verdict.passed and is_equivalent(attempt):
            result = "equivalent"
        counts.setdefault(attempt.kind, Counter())[result] += 1
        is_good = result in GOOD_OUTCOMES or (attempt.kind, result) in (("right", "passed"), ("mutant", "equivalent"))
        if lists and not is_good:
            wrong = [line for number, line in enumerate(attempt.code.splitlines(), 1) if number in attempt.lines]
            print(f"--- {attempt.id}: {result} {verdict.mistakes}", *wrong, f"    {verdict.message[:300]}", sep="\n")
    if seconds:
        print(f"CPU time per check: median {statistics.median(seconds):.3f} s, total {sum(seconds):.0f} s")
    return counts


def main() -> None:
    """Measure the attempts selected on the command line, and print a table of the outcomes."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path, nargs="?", default=FOLDER, help="the folder with the attempts")
    parser.add_argument("--only", default="", help="measure only these exercises (names separated by commas)")
    parser.add_argument(
        "--mutants", type=int, default=0, help="use N random changes to the solutions instead of attempts"
    )
    parser.add_argument("--list", action="store_true", help="print the verdict on every attempt without an explanation")
    options = parser.parse_args()
    torch.set_num_threads(1)
    only = options.only.split(",") if options.only else []
    if options.mutants:
        attempts = draw_mutants(options.mutants, only)
    else:
        attempts = [attempt for attempt in read(options.folder) if not only or attempt.exercise in only]
    for kind, counts in measure(attempts, lists=options.list).items():
        n = max(counts.total() - counts["equivalent"], 1)
        print(kind, counts.total(), {result: f"{count} ({count / n:.1%})" for result, count in counts.most_common()})


if __name__ == "__main__":
    main()
