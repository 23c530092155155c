"""Measure how well unseen attempts are explained: ``python -m tests.transformer_course.exercises.blind [FOLDER]``.

The attempts were written by people who had not seen any mistakes or generated mistakes. ``blind_attempts`` has one file
per lesson and one attempt per line: its exercise, its kind (``single``, ``pair`` or ``right``), its code and a
description of what is wrong. Another FOLDER may contain one module per exercise with a list ``ATTEMPTS``: dicts of
``id``, ``kind`` (``one``, ``two`` or ``right``) and ``code``, in which every mistake is marked ``⟦right¦wrong⟧``. Work
on messages uses only the half ``development``; results are reported for the half ``held-out``. ``--mutants N`` uses N
random changes of the solutions instead, the same number for each exercise. ``--list`` prints the verdicts on the
attempts that are neither named nor located.

An attempt is *named* if a mistake, a generated mistake or the step after which it stops is reported. It is *located* if
the reported line, including that of a crash, is marked, *misled* if another line is reported, and *placed* if a line is
reported but none is marked. Of two mistakes, *both* or *one* are reported. A random change is *equivalent* if it passes
and is also correct on the cases of other seeds; it is not counted.
"""

import argparse
import ast
import copy
import hashlib
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

    @property
    def half(self) -> str:
        """Its half of the data: development or held-out."""
        return ("development", "held-out")[hashlib.sha256(self.id.encode()).digest()[0] % 2]


def read(folder: Path) -> Iterator[Attempt]:
    """Yield the attempts in a folder."""
    for path in sorted(folder.glob("*.py")):
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        for one in module.ATTEMPTS:
            yield Attempt(path.stem, one["id"], one["kind"], *made_wrong(one["code"].lstrip("\n")))
    for path in sorted(folder.glob("*.jsonl")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            one = json.loads(line)
            yield Attempt(one["exercise"], f"{path.stem}:{number}", KINDS[one["kind"]], one["code"], frozenset())


def made_wrong(marked: str) -> tuple[str, frozenset[int]]:
    """Return code with the marked mistakes, and their lines."""
    lines: set[int] = set()
    while mark := MARK.search(marked):
        first = marked.count("\n", 0, mark.start()) + 1
        lines.update(range(first, first + mark[2].count("\n") + 1))
        marked = marked[: mark.start()] + mark[2] + marked[mark.end() :]
    return marked, frozenset(lines)


class Change(ast.NodeTransformer):
    """One random change of a syntax tree: its kind and the index of the node."""

    def __init__(self, draw: random.Random, at: int, names: Sequence[str]) -> None:
        self.draw, self.at, self.names, self.n_met, self.line = draw, at, names, 0, 0

    def generic_visit(self, node: ast.AST) -> ast.AST:
        self.n_met += 1
        if self.n_met - 1 == self.at and (new := self._changed(node)) is not None:
            self.line = getattr(node, "lineno", 0)
            return ast.copy_location(new, node)
        return super().generic_visit(node)

    def _changed(self, node: ast.AST) -> ast.AST | None:
        match node:
            case ast.BinOp(left, op, right):
                other = self.draw.choice([ast.Add(), ast.Sub(), ast.Mult(), ast.Div()])
                choices = [ast.BinOp(left, other, right), ast.BinOp(right, op, left), left, right]
                return self.draw.choice(choices)
            case ast.Compare(left, [_], [right]):
                return ast.Compare(
                    left, [self.draw.choice([ast.Lt(), ast.LtE(), ast.Gt(), ast.GtE(), ast.Eq()])], [right]
                )
            case ast.Constant(value) if type(value) in (int, float):
                return ast.Constant(self.draw.choice([value + 1, value - 1, 2 * value, -value]))
            case ast.Constant(True | False as value):
                return ast.Constant(not value)
            case ast.UnaryOp(_, operand):
                return operand
            case ast.Call(func, args, keywords) if keywords and self.draw.random() < 0.5:
                gone = self.draw.choice(keywords)
                return ast.Call(func, args, [one for one in keywords if one is not gone])
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
            case ast.Call(func, [first, second, *rest], keywords) if self.draw.random() < 0.5:
                return ast.Call(func, [second, first, *rest], keywords)
            case ast.Call(ast.Attribute(ast.Name("torch" | "F" | "math")), [first, *_], _):
                return first
            case ast.Name(name, ast.Load()) if name in self.names:
                return ast.Name(self.draw.choice([one for one in self.names if one != name] or [name]), ast.Load())
        return None


def mutants(right: Attempt, n: int, draw: random.Random) -> Iterator[Attempt]:
    """Yield random changes of a correct answer. Some of them may also be correct."""
    tree = ast.parse(right.code)
    code = ast.unparse(tree)  # normalizes the code so that lines are the same before and after
    tree = ast.parse(code)
    body = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name != "__init__"]
    names = sorted({n.id for f in body for n in ast.walk(f) if isinstance(n, ast.Name)} & _values(body))
    observed = {code}
    for number in itertools.islice(itertools.count(), 60 * n):
        if len(observed) > n:
            return
        change = Change(draw, draw.randrange(sum(1 for _ in ast.walk(tree))), names)
        changed = copy.deepcopy(tree)
        for function in (
            node for node in ast.walk(changed) if isinstance(node, ast.FunctionDef) and node.name != "__init__"
        ):
            function.body = [change.visit(statement) for statement in function.body]
        mutant = ast.unparse(ast.fix_missing_locations(changed))
        if change.line and mutant not in observed:
            observed.add(mutant)
            yield Attempt(right.exercise, f"{right.id}~{number}", "mutant", mutant, frozenset({change.line}))


def draw_mutants(n: int, only: Collection[str] = ()) -> list[Attempt]:
    """Draw a number of random changes of the solutions, about the same number for each."""
    draw, exercises = random.Random(7), [one for one in every_exercise().values() if not only or one.name in only]
    rights = [Attempt(one.name, one.name, "right", one.solution, frozenset()) for one in exercises]
    of_each = [list(mutants(right, -(-n // len(rights)), draw)) for right in rights]
    in_turn = [one for several in itertools.zip_longest(*of_each) for one in several if one is not None]
    return sorted(in_turn[:n], key=lambda one: one.exercise)


def is_equivalent(mutant: Attempt) -> bool:
    """Return whether an attempt is correct on the cases of seeds that the lessons don't use."""
    exercise, attempt = every_exercise()[mutant.exercise], defined(mutant)
    return all(
        judge(exercise, seed, observe_all(attempt, list(exercise.cases(seed)), SECONDS_PER_CHECK)).passed
        for seed in OTHER_SEEDS
    )


def _values(functions: Sequence[ast.FunctionDef]) -> set[str]:
    stored = {n.id for f in functions for n in ast.walk(f) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return stored | {a.arg for f in functions for a in f.args.args} - {"self"}


def outcome(verdict: Verdict, attempt: Attempt) -> str:
    """Classify how well a verdict explains an attempt."""
    names = [name for name in verdict.mistakes if name not in GENERAL]
    lines = {int(n) for n in re.findall(r"^(?: *[lL]|On your l)ine (\d+):", verdict.message, re.MULTILINE)}
    place = "" if not lines else "placed" if not attempt.lines else "located" if lines & attempt.lines else "misled"
    if verdict.passed:
        return "passed"
    if attempt.kind == "right":
        return "refused"
    if attempt.kind == "two":
        return (
            "both"
            if len(names) + bool({CHANGES_ARGUMENT, CHANGES_MODE}.intersection(verdict.mistakes)) > 1
            or verdict.message.startswith(TWO_BUGS)
            else "one"
            if verdict.mistakes or verdict.status == "half_finished"
            else place or "neither"
        )
    return "named" if verdict.mistakes or verdict.status == "half_finished" else place or "neither"


def defined(attempt: Attempt) -> Any:
    """Return the function or class of an attempt."""
    scope: dict[str, object] = {}
    exec(IMPORTS, scope)
    scope.pop("__builtins__")
    return cell(attempt.code, attempt.exercise, parts=parts, **scope)


def check(attempt: Attempt, session: Session) -> Verdict:
    """Return the verdict on an attempt."""
    return session.check(defined(attempt), attempt.exercise)


def measure(attempts: Sequence[Attempt], *, lists: bool = False) -> dict[str, Counter[str]]:
    """Check attempts and count the outcomes by half and kind."""
    counts: dict[str, Counter[str]] = {}
    seconds: list[float] = []
    session = Session(every_exercise())
    for attempt in attempts:
        started = time.process_time()
        try:
            verdict = check(attempt, session)
        except Exception as error:
            print(f"{attempt.id}: cannot be run: {error!r}")
            continue
        seconds.append(time.process_time() - started)
        what = outcome(verdict, attempt)
        if attempt.kind == "mutant" and verdict.passed and is_equivalent(attempt):
            what = "equivalent"
        counts.setdefault(f"{attempt.half:12} {attempt.kind:6}", Counter())[what] += 1
        if (
            lists
            and what not in ("named", "located", "placed", "both")
            and (attempt.kind, what) not in (("right", "passed"), ("mutant", "equivalent"))
        ):
            wrong = [line for number, line in enumerate(attempt.code.splitlines(), 1) if number in attempt.lines]
            print(f"--- {attempt.id}: {what} {verdict.mistakes}\n{chr(10).join(wrong)}\n    {verdict.message[:300]}")
    if seconds:
        print(f"{statistics.median(seconds):.3f} s of computing for a check (median), {sum(seconds):.0f} s for all")
    return counts


def main() -> None:
    """Print the table."""
    options = argparse.ArgumentParser()
    options.add_argument("folder", type=Path, nargs="?", default=FOLDER)
    options.add_argument("--half", choices=["development", "held-out"])
    options.add_argument("--only", default="", help="names of exercises, separated by commas")
    options.add_argument("--mutants", type=int, default=0)
    options.add_argument("--list", action="store_true")
    chosen = options.parse_args()
    torch.set_num_threads(1)
    attempts = [a for a in read(chosen.folder) if not chosen.only or a.exercise in chosen.only.split(",")]
    if chosen.mutants:
        attempts = draw_mutants(chosen.mutants, chosen.only.split(",") if chosen.only else ())
    attempts = [a for a in attempts if chosen.half in (None, a.half)]
    for kind, counts in measure(attempts, lists=chosen.list).items():
        n = counts.total() - counts["equivalent"]
        print(
            kind, counts.total(), {what: f"{count} ({count / max(n, 1):.1%})" for what, count in counts.most_common()}
        )


if __name__ == "__main__":
    main()
