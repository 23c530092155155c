"""Test that a published translator gives the same translations as ``transformers`` with the same folder."""

import json
import warnings

import pytest
import torch
import transformers

from tests.transformer_lab.pretrained.marian_folder import ENGLISH, GERMAN, write_tokenizer
from tests.transformer_lab.pretrained.small_checkpoints import drawn, marian
from transformer_course.commands.main import main
from transformer_lab.text.marian_translator import MarianTranslator, load_translator

TEXTS = [*ENGLISH, "the", "日本"]
N_TOKENS = 12


def publish(folder, separate=False, **overrides: object) -> transformers.MarianMTModel:
    """Write an untrained model to a folder in the format of ``Helsinki-NLP/opus-mt-…``."""
    target = write_tokenizer(folder, separate)
    vocabulary = json.loads((folder / "vocab.json").read_text())
    pad_id = vocabulary["<pad>"]
    sizes = {
        "vocab_size": len(vocabulary), "decoder_vocab_size": len(target),
        "share_encoder_decoder_embeddings": not separate, "eos_token_id": target["</s>"],
    }  # fmt: skip
    model = drawn(marian(**sizes, pad_token_id=pad_id, decoder_start_token_id=pad_id, **overrides))
    model.save_pretrained(folder)
    return model


def their_texts(model, folder):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Recommended: pip install sacremoses")
        tokenizer = transformers.MarianTokenizer.from_pretrained(folder)
    batch = tokenizer(TEXTS, return_tensors="pt", padding=True)
    forbidden = [[model.config.pad_token_id]]
    tokens = model.generate(**batch, num_beams=1, do_sample=False, max_new_tokens=N_TOKENS, bad_words_ids=forbidden)
    return tokenizer.batch_decode(tokens, skip_special_tokens=True)


def test_translations_match_transformers(tmp_path):
    theirs = publish(tmp_path)
    ours = load_translator(str(tmp_path))
    assert isinstance(ours, MarianTranslator)
    translated = list(ours.translate(TEXTS, max_length=N_TOKENS))
    assert translated == their_texts(theirs, tmp_path)
    assert len(set(translated)) > 3
    assert [next(ours.translate([text], max_length=N_TOKENS)) for text in TEXTS] == translated


def test_never_generates_padding(tmp_path):
    theirs = publish(tmp_path)
    pad_id = theirs.config.pad_token_id
    theirs.final_logits_bias[0, pad_id] = 100.0
    theirs.save_pretrained(tmp_path)
    ours = MarianTranslator.load(tmp_path)
    source = torch.from_numpy(ours.encode_source(ENGLISH[0]))[None]
    assert ours.model(source, torch.tensor([[pad_id, 5]]))[0, :, pad_id].tolist() == [-torch.inf] * 2
    assert list(ours.translate(TEXTS, max_length=N_TOKENS)) == their_texts(theirs, tmp_path)


def test_does_not_mix_separate_vocabularies(tmp_path):
    publish(tmp_path, separate=True)
    ours = load_translator(tmp_path)
    vocabulary, target = (json.loads((tmp_path / f"{name}.json").read_text()) for name in ("vocab", "target_vocab"))
    assert ours.encode_source("c").tolist() == [vocabulary["▁"], vocabulary["c"], vocabulary["</s>"]]
    pieces = ours.tokenizer.target.encode(GERMAN[0], out_type=str)
    assert ours.decode([target[piece] for piece in pieces]) == GERMAN[0]
    assert all(isinstance(text, str) for text in ours.translate(TEXTS, max_length=N_TOKENS))


def test_truncates_sources_to_the_maximum_length(tmp_path):
    publish(tmp_path)
    ours = load_translator(tmp_path)
    assert len(ours.encode_source("the cat " * 99)) == ours.model.config.max_length == 29
    assert list(ours.translate(["the cat " * 99], max_length=3)) != [""]
    assert len(ours.source_tokens("the cat " * 99)) > 99
    assert ours.encode_source("the cat " * 99)[-1] == ours.encode_source("the")[-1] == ours.eos_id


def test_command_line_translates_with_a_marian_model(tmp_path, capsys):
    publish(tmp_path)
    arguments = ["translate", "-m", str(tmp_path), "--device", "cpu"]
    assert main([*arguments, *TEXTS]) == 0
    assert capsys.readouterr() == ("".join(f"{text}\n" for text in load_translator(tmp_path).translate(TEXTS)), "")
    assert main([*arguments, "the cat " * 99]) == 0
    assert "the model reads only the first 28" in capsys.readouterr().err


def test_rejects_tokenizer_for_a_different_model(tmp_path):
    publish(tmp_path)
    vocabulary = json.loads((tmp_path / "vocab.json").read_text())
    last = len(vocabulary)
    (tmp_path / "vocab.json").write_text(json.dumps(vocabulary | {"more": last}))
    with pytest.raises(ValueError, match=f"less than vocab_size={last}; the tokenizer's largest id is {last}"):
        load_translator(tmp_path)
    (tmp_path / "vocab.json").write_text(json.dumps(vocabulary | {"<pad>": 7}))
    with pytest.raises(ValueError, match=f"the tokenizer pads with token 7, but the model pads with {last - 1}"):
        load_translator(tmp_path)
    (tmp_path / "vocab.json").write_text(json.dumps(vocabulary | {"</s>": 7}))
    with pytest.raises(ValueError, match="the tokenizer ends texts with token 7, but the model ends texts with 0"):
        load_translator(tmp_path)
