"""Tests for printing the messages of an exercise."""

import pytest

from authoring.messages import KINDS, main, messages
from transformer_course.exercises import every_exercise
from transformer_course.generated_mistakes.catalog import catalog_of

SOFTMAX = every_exercise()["softmax"]


@pytest.fixture(scope="module")
def blocks():
    return {kind: messages(SOFTMAX, [kind]) for kind in KINDS}


def test_returns_block_for_each_mistake(blocks):
    assert [block.splitlines()[0] for block in blocks["written"]] == [f"{m.name} (written)" for m in SOFTMAX.mistakes]
    n_generated = len(blocks["worded"]) + len(blocks["composed"])
    assert len(blocks["worded"]) >= len(SOFTMAX.messages)
    assert n_generated == len(catalog_of(SOFTMAX).edits)


def test_block_contains_code_message_and_hints(blocks):
    [block] = [
        one
        for one in blocks["composed"]
        if one.startswith("operator_shares (composed)\n    shares: exponentials * total\n")
    ]
    lines = block.splitlines()
    assert lines[2].startswith("You multiply the exponentials")
    assert [line[:5] for line in lines[3:]] == ["  1. ", "  2. ", "  3. "]
    written = "\n".join(blocks["written"])
    assert all(
        mistake.message in written and all(hint in written for hint in mistake.hints) for mistake in SOFTMAX.mistakes
    )


def test_prints_messages_for_unfinished_and_passed_answers(blocks):
    text = "\n".join(blocks["other"])
    assert "stops at exponentials\nYou return " in text
    assert all(hint in text for hint in SOFTMAX.hints) and SOFTMAX.verified in text


def test_command_rejects_unknown_names(capsys):
    assert main(["sofmax"]) == main([]) == main(["softmax", "all"]) == 2
    assert capsys.readouterr().err.count("usage: python -m authoring.messages EXERCISE") == 3


def test_command_filters_messages_by_kind(capsys, blocks):
    assert main(["softmax", "other"]) == 0
    assert capsys.readouterr().out == "".join(f"{block}\n\n" for block in blocks["other"])
