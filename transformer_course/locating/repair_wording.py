"""Describe the fault in a learner's code that an edit repairs, and ask a question about it."""

import re

from transformer_course.checking.message_panel import code_block
from transformer_course.locating.fault import Fault
from transformer_course.running.code_edits import CodeEdit
from transformer_course.running.instrumentation import Expression

SENTENCES = {
    "reset_in_loop": (
        "you set `{name}` only once, before the loop, so each iteration starts with the previous iteration's value.",
        "Which loop should reset `{name}`?",
    ),
    "set_before_loop": (
        "you reset `{name}` in every iteration, so you lose what earlier iterations added.",
        "Where should this line be?",
    ),
    "returns_in_loop": (
        "you return in the first iteration of the loop, so the remaining iterations never run.",
        "Where should the `return` be?",
    ),
    "set_back": (
        "you reset `{name}` here, so you lose its earlier value.",
        "When does this line run?",
    ),
    "overwrites": (
        "you overwrite `{name}` where you should add to it.",
        "What does `{name}` hold before this line?",
    ),
    "adds_up": ("you add to `{name}` where you should overwrite it.", "What does `{name}` hold before this line?"),
    "no_joining_dim": ("without `dim`, `{name}` uses dim 0.", "Which dimension do you need here?"),
    "dim": ("you use the wrong dimension here.", "What does each dimension stand for, and which one do you need?"),
    "no_dim": (
        "without `dim`, `{name}` runs over the whole tensor.",
        "Which `dim` runs along a single vector?",
    ),
    "range_stop": ("your loop stops one iteration too {late}.", "What is the last value that `range` produces?"),
    "range_start": ("your loop starts one iteration too {late}.", "What is the first value that `range` produces?"),
    "slice_stop": ("your slice ends one position too {late}.", "Which position is the last in `{old}`?"),
    "slice_start": ("your slice starts one position too {late}.", "Which position is the first in `{old}`?"),
    "index": ("your index is too {low} by one.", "Which entry does `{old}` take?"),
    "swapped": ("you have the operands or arguments of `{old}` in the wrong order.", ""),
    "function": ("`{name}` is the wrong choice here.", "Which function or argument do you need instead?"),
    "operator": ("`{name}` is the wrong operator here.", "Which operator do you need?"),
    "sign": ("the sign is wrong here.", "Should there be a minus sign?"),
    "root": ("you need the {power} of `{old}` here.", ""),
    "truth": ("True and False are swapped here.", "When should this be True?"),
    "call": ("you should leave out `{name}` here.", "What do you get without it?"),
    "line": ("this line should not run.", "What does it change?"),
    "operand": ("here you need only `{new}`.", "What does the rest of `{old}` do to it?"),
    "number": ("`{old}` is the wrong number here.", "What should it be?"),
    "name": ("`{old}` is the wrong value here.", "Which of your other values do you need?"),
}
"""For each kind of edit, a clause about the fault, and a question or ""."""
WRONG_DIMENSION = "`{old}` is the wrong dimension here."
SENTENCES_BEFORE = {
    r"\.(?:shape\[|size\()$": (WRONG_DIMENSION, "Which dimension has the size that you need?"),
    r"\.(?:transpose|swapaxes|permute|movedim|(?:un)?squeeze|(?:un)?flatten|gather)\([-\d, ]*$": (
        WRONG_DIMENSION,
        "What does each dimension of the tensor stand for?",
    ),
}
"""Sentences about a wrong number after code that takes a dimension."""


def fault_of(edit: CodeEdit) -> Fault:
    """Return the fault that an edit repairs."""
    statement, question = (text.format(**_words(edit)) for text in _sentences(edit))
    expression = Expression(
        0, "", edit.line, edit.columns, edit.source_line[slice(*edit.columns)], edit.source_line, (), ""
    )
    problem = f"Line {edit.line}: {statement}{f' {question}' if question else ''}"
    in_code = f"In code:\n{code_block(edit.new)}" if edit.new else "Delete the line."
    hints = (f"Change only line {edit.line}, and your output is right.", in_code)
    return Fault(expression, problem, hints, kind=edit.kind)


def _sentences(edit: CodeEdit) -> tuple[str, str]:
    before = edit.source_line[: edit.columns[0]]
    if edit.kind == "number":
        for pattern, sentences in SENTENCES_BEFORE.items():
            if re.search(pattern, before):
                return sentences
    return SENTENCES[edit.kind]


def _words(edit: CodeEdit) -> dict[str, str]:
    """Return the values of the fields that a sentence may contain."""
    return {
        "old": edit.old,
        "new": edit.new,
        "name": edit.name,
        "late": "early" if edit.by > 0 else "late",
        "low": "small" if edit.by > 0 else "large",
        "power": "square" if edit.new.endswith("** 2") else "square root",
    }
