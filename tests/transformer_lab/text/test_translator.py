"""Tests for loading and running translators, including batching, lengths, and errors about missing files."""

import json
from itertools import count

import pytest
import torch

from tests.helpers.scripted_model import Scripted
from transformer_lab.data.tokenizers import BOS_ID, EOS_ID, character_tokenizer
from transformer_lab.generation.beam_search import beam_search
from transformer_lab.models.transformer_config import TransformerConfig
from transformer_lab.tensor_files import PARAMETERS_FILE, write_tensors
from transformer_lab.text.translator import CONFIG, TOKENIZER, Translator

TEXTS = ["abc", "", "cab", "  ", "ccccccc", "b", " a b "]


@pytest.fixture
def translator():
    tokenizer = character_tokenizer(["abc "])
    config = TransformerConfig(tokenizer.get_vocab_size(), d_model=8, n_heads=2, d_ff=16, n_layers=1, max_length=9)
    return Translator(Scripted(config), tokenizer)


@pytest.fixture
def folder(translator, tmp_path):
    translator.save_description(tmp_path)
    write_tensors(tmp_path / PARAMETERS_FILE, translator.model.state_dict(), {})
    return tmp_path


def test_translation_does_not_depend_on_the_batch(translator):
    alone = [next(translator.translate([text])) for text in TEXTS]
    for batch_size in (1, 2, 3, 64):
        assert list(translator.translate(TEXTS, batch_size=batch_size)) == alone
    assert len(set(alone)) > 2


def test_beam_size_selects_beam_search(translator):
    source = torch.tensor([[*translator.source_tokens("cab"), EOS_ID]])
    translations = set()
    for beam_size in (1, 2, 30):
        [ids] = beam_search(translator.model, source, BOS_ID, EOS_ID, 9, beam_size).tolist()
        expected = translator.decode(ids).strip()
        assert list(translator.translate(["cab"], beam_size=beam_size)) == [expected]
        translations.add(expected)
    assert len(translations) > 1


def test_empty_text_translates_to_empty_text(translator):
    assert list(translator.translate(["", " \t", "\n"])) == ["", "", ""]
    assert list(translator.translate([])) == []


def test_reads_input_one_batch_at_a_time(translator):
    lines_read = []
    stream = (lines_read.append(n) or "abc" for n in count())
    next(translator.translate(stream, batch_size=3))
    assert lines_read == [0, 1, 2]


@pytest.mark.parametrize("batch_size", [0, -1])
def test_rejects_nonpositive_batch_size(translator, batch_size):
    with pytest.raises(ValueError, match=f"batch_size must be positive; got batch_size={batch_size}"):
        list(translator.translate(["a", "b"], batch_size=batch_size))


def test_translates_without_dropout(translator, folder):
    assert not Translator.load(folder).model.training
    translator.model.train()
    list(translator.translate(TEXTS))
    assert not translator.model.training


def test_truncates_sources_to_the_maximum_length(translator):
    assert translator.longest == 8
    assert translator.encode_source("a" * 99).tolist() == [4 + 1] * 8 + [EOS_ID]
    assert translator.encode_target("a" * 99).tolist() == [BOS_ID] + [4 + 1] * 8 + [EOS_ID]
    assert list(translator.translate(["a" * 99])) == list(translator.translate(["a" * 8]))


@pytest.mark.parametrize("max_length", [0, 10])
def test_rejects_out_of_range_max_length(translator, max_length):
    with pytest.raises(ValueError, match=rf"1 to 9 tokens \(max_length\); got {max_length}"):
        list(translator.translate(["a"], max_length))


def test_translation_respects_max_length(translator):
    for text in translator.translate(TEXTS, max_length=2):
        assert len(text) <= 2


@pytest.mark.parametrize("name", [CONFIG, TOKENIZER, PARAMETERS_FILE])
def test_error_names_missing_files(folder, name):
    (folder / name).unlink()
    with pytest.raises(ValueError, match=f"does not contain a trained model: {name} not found"):
        Translator.load(folder)


@pytest.mark.parametrize("name", [CONFIG, TOKENIZER, PARAMETERS_FILE])
def test_error_names_corrupted_files(folder, name):
    path = folder / name
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(ValueError, match=name):
        Translator.load(folder)


@pytest.mark.parametrize("change, message", [({"d_model": 12}, "has the shape"), ({"d_modle": 8}, "d_modle")])
def test_rejects_config_for_a_different_model(folder, change, message):
    stored = json.loads((folder / CONFIG).read_text())
    (folder / CONFIG).write_text(json.dumps(stored | change))
    with pytest.raises(ValueError, match=message):
        Translator.load(folder)
