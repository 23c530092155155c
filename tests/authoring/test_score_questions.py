"""Tests for scoring the answer options of questions, with and without text in the cache."""

import json

import pytest
import torch

from authoring.score_questions import (
    FILE,
    FREE_SETTINGS,
    N_JUDGED,
    QUESTIONS,
    SETTINGS,
    TEMPLATES,
    filled,
    format_examples,
    option_log_p,
)
from transformer_lab.models.language_model import LanguageModel
from transformer_lab.models.language_model_config import LanguageModelConfig

CARD = json.loads(FILE.read_text(encoding="utf-8"))
DATA = json.loads(QUESTIONS.read_text(encoding="utf-8"))
QUESTION = DATA["questions"][0]


def test_file_contains_four_scores_for_every_question():
    assert [(run["template"], run["n_examples"]) for run in CARD["scores"]] == SETTINGS
    for run in CARD["scores"]:
        assert [len(options) for options in run["log_p"]] == [4] * 50
        assert all(number <= 0 for options in run["log_p"] for option in options for number in option)
    assert [(run["template"], run["n_examples"]) for run in CARD["free"]] == [setting[:2] for setting in FREE_SETTINGS]
    assert all(len(run["answers"]) == 50 for run in CARD["free"])
    assert CARD["judge"].keys() == {"long, right", "long, wrong"}
    assert all(len(rows) == N_JUDGED for rows in CARD["judge"].values())


@pytest.mark.parametrize("n_before", [0, 3])
def test_cached_scores_match_pass_without_cache(n_before):
    torch.manual_seed(0)
    model = LanguageModel(LanguageModelConfig(vocab_size=23, d_model=8, n_heads=2, d_ff=16, n_layers=2)).eval()
    before, prompt, options = [5, 6, 7][:n_before], [1, 2, 3, 4], [[8], [9, 10, 11], [12, 13]]
    cache = model.new_cache(50)
    if before:
        model(torch.tensor([before]), cache)
    for _ in range(2):  # the second iteration checks that the first iteration restored the cache
        found = option_log_p(model, cache, prompt, options)
        for option, log_p in zip(options, found, strict=True):
            tokens = torch.tensor([[*before, *prompt, *option]])
            whole = model(tokens)[0, -len(option) - 1 : -1].log_softmax(dim=-1)
            expected = [whole[i, token].item() for i, token in enumerate(option)]
            assert log_p == pytest.approx(expected, abs=1e-5)


def test_templates_format_questions_and_correct_answers():
    prompt, answer, _ = TEMPLATES["letters"]
    assert filled(answer, QUESTION, 2) == " C"
    assert all(option in filled(prompt, QUESTION, 0) for option in QUESTION["options"])
    text = format_examples(TEMPLATES["Question, Answer"], DATA["examples"][:2])
    for example in DATA["examples"][:2]:
        assert f"Question: {example['question']}\nAnswer: {example['options'][example['right']]}\n\n" in text
