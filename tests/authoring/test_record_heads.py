"""Tests that the attention weights stored for lesson 03 match SmolLM2."""

import json
from types import SimpleNamespace

import pytest
import torch

from authoring import record_heads
from authoring.record_heads import (
    AGREEMENT_TEMPLATES,
    ANIMALS,
    COMMAND,
    HEAD,
    N_AGREEMENT_SENTENCES,
    N_SENTENCES,
    SENTENCE,
    SENTENCES,
    TEMPLATES,
    WEIGHTS,
)
from transformer_course.published_models.published import published
from transformer_lab.tensor_files import read_tensors

CARD = json.loads(SENTENCES.read_text(encoding="utf-8"))
RECORDED, _ = read_tensors(WEIGHTS)


def test_files_contain_row_for_every_sentence():
    assert CARD["command"] == COMMAND
    assert [tuple(template) for template in CARD["templates"]] == list(TEMPLATES.items())
    assert CARD["words"] == list(record_heads.filled())
    assert RECORDED["from_verb_to_nouns"].shape == (len(TEMPLATES), N_SENTENCES, 30, 9, 2)
    assert [set(probabilities) for probabilities in CARD["answers"].values()] == [set(ANIMALS)] * 2
    heads = ["none", *(f"{HEAD[0]}, {i}" for i in range(9))]
    assert {template: list(row) for template, row in CARD["agreement_without_head"].items()} == {
        template: heads for template in AGREEMENT_TEMPLATES
    }


def test_weights_sum_to_one_and_ignore_later_tokens():
    n = len(CARD["tokens"])
    weights = RECORDED["sentence"].float()
    assert weights.shape == (30, 9, n, n)
    torch.testing.assert_close(weights.sum(dim=-1), torch.ones(30, 9, n), atol=2e-3, rtol=0)
    assert not weights.triu(1).any()


@pytest.mark.parametrize("template", TEMPLATES)
def test_weights_per_word_match_recorded_verb_weights(template):
    verb = next(row for row in CARD["words_to_nouns"][template] if row[0] == "ran")
    pattern = list(TEMPLATES).index(template)
    means = RECORDED["from_verb_to_nouns"][pattern, :, *HEAD].float().mean(dim=0)
    torch.testing.assert_close(torch.tensor(verb[1:]), means, atol=6e-3, rtol=0)


@pytest.mark.parametrize("template", AGREEMENT_TEMPLATES)
def test_agreement_sentences_have_one_singular_and_plural_noun(template):
    sentences = list(record_heads.agreement_sentences(template))
    assert len(sentences) == N_AGREEMENT_SENTENCES
    for text, right, wrong in sentences:
        is_plural = [word.rstrip("s") in record_heads.REGULAR_NOUNS and word.endswith("s") for word in text.split()]
        assert sum(is_plural) == 1
        assert {right, wrong} == {"was", "were"}
        assert (right == "were") == is_plural[1]


@pytest.mark.parametrize(
    ("heads", "removed"), [([], slice(0)), ([(1, 2)], slice(6, 9)), ([(1, 3), (1, 2)], slice(6, 12))]
)
def test_ablation_sets_head_outputs_to_zero(monkeypatch, heads, removed):
    attention = SimpleNamespace(n_heads=4, w_o=torch.nn.Identity())
    blocks = [SimpleNamespace(self_attention=None), SimpleNamespace(self_attention=attention)]
    monkeypatch.setattr(record_heads, "loaded", lambda: (SimpleNamespace(blocks=blocks), None))
    expected = torch.ones(1, 5, 12)
    expected[..., removed] = 0
    with record_heads.without(heads):
        torch.testing.assert_close(attention.w_o(torch.ones(1, 5, 12)), expected)
    torch.testing.assert_close(attention.w_o(torch.ones(1, 5, 12)), torch.ones(1, 5, 12))


def test_subject_heads_prefer_the_subject_most_often():
    to_nouns = torch.zeros(2, 3, 4, 5, 2)  # (template, sentence, layer, head, [subject, other noun])
    to_nouns[:, :, 2, 3, 0] = 1.0
    to_nouns[0, :, 1, 4, 0] = 1.0
    assert record_heads.subject_heads(to_nouns)[:2] == [(2, 3), (1, 4)]


def test_random_groups_use_other_heads_in_same_layers():
    groups = CARD["agreement_without_groups"]
    layers = sorted(layer for layer, _ in groups["best"])
    for group in groups["others"]:
        assert sorted(layer for layer, _ in group) == layers
        assert not {*map(tuple, group)} & {*map(tuple, groups["best"])}


def test_verb_attention_weights_list_subject_first(monkeypatch):
    def read(text):
        tokens = text.rstrip(".").split()
        row = torch.arange(float(len(tokens)))
        return tokens, row.expand(2, 3, len(tokens), -1), None

    monkeypatch.setattr(record_heads, "read", read)
    words = {"a": "cat", "b": "dog", "verb": "chased", "end": "ran away"}
    passive, active = "The {a} that was {verb} by the {b} {end}.", "The {a} {verb} the {b} that {end}."
    assert record_heads.from_verb_to_nouns(passive, words)[0, 0].tolist() == [1.0, 7.0]
    assert record_heads.from_verb_to_nouns(active, words)[0, 0].tolist() == [4.0, 1.0]


@pytest.mark.thorough
def test_command_reproduces_sentence_weights(monkeypatch):
    try:
        monkeypatch.setattr("sys.argv", ["record_heads", published("smollm2", download=False)])
    except FileNotFoundError:
        pytest.skip("SmolLM2 is not in this machine's cache")
    tokens, weights, _ = record_heads.read(SENTENCE)
    assert tokens == CARD["tokens"]
    torch.testing.assert_close(weights, RECORDED["sentence"].float(), atol=5e-3, rtol=0)
