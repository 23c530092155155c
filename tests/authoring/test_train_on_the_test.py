"""Tests for the stored runs in which small models are trained on the test set."""

import json

import pytest
import torch

from authoring.score_questions import QUESTIONS
from authoring.train_on_the_test import COMMAND, EPOCHS, FILE, QUESTION_FORMATS, SEEDS, padded, right, run, text_of
from transformer_course import parts
from transformer_course.stored_models.stored_model import trained

CARD = json.loads(FILE.read_text(encoding="utf-8"))
QUESTION = {"question": "What is ice?", "options": ["water", "fire", "wood", "sand"], "right": 0}


def test_file_contains_row_for_every_epoch():
    assert CARD["command"] == COMMAND
    rows = [tuple(row[key] for key in ("model", "seed", "leaked half", "epochs")) for row in CARD["runs"]]
    expected = [(m, s, h, e) for m, seeds in SEEDS.items() for s in seeds for h in (0, 1) for e in EPOCHS]
    assert rows == expected
    assert all(len(row[kind]) == 50 for row in CARD["runs"] for kind in QUESTION_FORMATS)


def test_questions_and_rephrased_questions_are_distinct():
    questions = json.loads(QUESTIONS.read_text(encoding="utf-8"))["questions"]
    assert len(questions) == 50 and all(len(q["options"]) == len({*q["options"]}) == 4 for q in questions)
    assert len({q["question"] for q in questions} | {q["rephrased"] for q in questions}) == 100


def test_picks_option_with_highest_log_probability():
    torch.manual_seed(0)
    stored = trained("gpt-docstrings")
    model = stored.load_into(parts.GPT(**stored.sizes)).eval()
    others = [{**QUESTION, "right": i} for i in range(4)]
    sums = []
    for option in range(4):
        tokens = padded(stored.tokenizer, [text_of(QUESTION, option)])
        n_prompt = len(stored.tokenizer.encode("Question: What is ice?\nAnswer:").ids)
        log_p = model(tokens)[0].log_softmax(dim=-1)
        sums.append(sum(log_p[i - 1, tokens[0, i]].item() for i in range(n_prompt, tokens.shape[1])))
    assert right(model, stored.tokenizer, others) == [int(i == sums.index(max(sums))) for i in range(4)]


def test_short_run_starts_with_stored_model():
    rows = list(run("gpt-docstrings", 1, 0, epochs=(0, 1)))
    assert [row["epochs"] for row in rows] == [0, 1]
    stored = next(row for row in CARD["runs"] if row["leaked half"] == 1)
    assert sum(a != b for a, b in zip(rows[0]["as leaked"], stored["as leaked"], strict=True)) <= 2


@pytest.mark.thorough
def test_command_reproduces_stored_run():
    *_, last = run("gpt-docstrings", 0, 0)
    stored = next(row for row in CARD["runs"] if row["epochs"] == EPOCHS[-1])
    assert sum(last["as leaked"][::2]) == pytest.approx(sum(stored["as leaked"][::2]), abs=4)
