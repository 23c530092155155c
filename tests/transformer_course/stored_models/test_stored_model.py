"""Tests that stored models are found by name, and that the learner's and the library's classes give equal outputs."""

import math
import platform
import re

import pytest
import sacrebleu
import torch
from torch import nn

from transformer_course import parts
from transformer_course.stored_models.stored_model import CARD, FOLDER, MODEL, TOKENIZER, StoredModel, store, trained
from transformer_lab.data.docstrings import python_docstrings
from transformer_lab.data.tokenizers import BOS_ID, EOS_ID, PAD_ID, bpe_tokenizer
from transformer_lab.models.language_model import LanguageModel
from transformer_lab.models.language_model_config import LanguageModelConfig
from transformer_lab.models.transformer import Transformer
from transformer_lab.models.transformer_config import TransformerConfig
from transformer_lab.text.translator import Translator

NAMES = sorted(card.parent.name for card in FOLDER.glob(f"*/{CARD}"))
GPT, ACTOR, TRANSLATOR, LLAMA = "gpt-docstrings", "gpt-plays", "messages-en-fr", "llama-plays"


def library_gpt(sizes):
    config = LanguageModelConfig(
        sizes["vocab_size"], d_model=sizes["d_model"], n_heads=sizes["n_heads"], d_ff=4 * sizes["d_model"],
        n_layers=sizes["n_layers"], max_length=sizes["context_length"], dropout=0.0, feed_forward="relu",
    )  # fmt: skip
    return LanguageModel(config)


class PlainTransformer(nn.Module):
    """The Transformer of lesson 08, built from ``parts``."""

    def __init__(self, vocab_size, d_model, n_heads, d_ff, n_layers, max_length):
        super().__init__()
        sizes = vocab_size, d_model, n_heads, d_ff, n_layers, max_length
        self.encoder, self.decoder = parts.Encoder(*sizes), parts.Decoder(*sizes)
        self.decoder.embedding = self.encoder.embedding

    def forward(self, source, target):
        mask = parts.padding_mask(source, PAD_ID)
        x = self.decoder(target, self.encoder(source, mask), parts.decoder_mask(target, PAD_ID), mask)
        return x @ self.encoder.embedding.weight.T


def test_names_include_every_stored_model():
    # tests/notebooks/test_published_weights.py tests lesson 11's classes
    assert NAMES == [GPT, ACTOR, LLAMA, TRANSLATOR]


@pytest.mark.parametrize("name", [GPT, ACTOR])
def test_gpt_logits_match_between_learner_and_library(name):
    stored = trained(name)
    own, library = parts.GPT(**stored.sizes), library_gpt(stored.sizes)
    assert stored.load_into(own) is own
    library.load_state_dict({**stored.parameters, "head.weight": stored.parameters["embedding.weight"]})
    n = stored.sizes["context_length"]
    tokens = torch.randint(stored.sizes["vocab_size"], (3, n), generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        torch.testing.assert_close(own(tokens), library.eval()(tokens), rtol=1e-4, atol=1e-4)


def test_transformer_logits_match_between_learner_and_library():
    stored = trained(TRANSLATOR)
    own = stored.load_into(PlainTransformer(**stored.sizes))
    other = stored.load_into(Transformer(TransformerConfig(**stored.sizes, dropout=0.5))).eval()
    sides = torch.randint(1, stored.sizes["vocab_size"], (2, 3, 20), generator=torch.Generator().manual_seed(0))
    sides[:, 1, 15:] = PAD_ID
    with torch.no_grad():
        torch.testing.assert_close(own(*sides), other(*sides), rtol=1e-4, atol=1e-4)


def test_card_matches_results_on_held_out_sentences():
    stored = trained(TRANSLATOR)
    own = stored.load_into(PlainTransformer(**stored.sizes))
    translator = Translator(stored.load_into(Transformer(TransformerConfig(**stored.sizes))), stored.tokenizer)
    sources, references = zip(*stored.card["held_out"], strict=True)
    read = [[*stored.tokenizer.encode(source).ids, EOS_ID] for source in sources]
    source = torch.tensor([row + [PAD_ID] * (max(map(len, read)) - len(row)) for row in read])
    written = torch.full((len(source), 1), BOS_ID)
    with torch.no_grad():
        for _ in range(40):
            written = torch.cat([written, own(source, written)[:, -1:].argmax(dim=-1)], dim=1)
    rows = [row[1 : row.index(EOS_ID)] if EOS_ID in row else row[1:] for row in written.tolist()]
    found = {
        "greedy": [stored.tokenizer.decode(row) for row in rows],
        "beam of 4": list(translator.translate(sources, max_length=40, beam_size=4)),
    }
    for name, translations in found.items():
        score = sacrebleu.corpus_bleu(translations, [list(references)]).score
        # Different processors round differently and may choose a different word if two words are almost equally
        # probable.
        assert score == pytest.approx(stored.card["bleu_of_those_below"][name], abs=1)
    assert stored.card["parameters"] == sum(p.numel() for p in own.parameters())
    assert len(set(sources)) == len(sources) == 100


@pytest.mark.thorough  # slow, as in tests/authoring/test_train_gpt.py
def test_card_matches_loss_on_held_out_text():
    stored = trained(GPT)
    gpt = stored.load_into(parts.GPT(**stored.sizes))
    texts = python_docstrings()[1]
    ids = torch.tensor([token for text in texts for token in [BOS_ID, *stored.tokenizer.encode(text).ids]])
    windows = ids[: len(ids) // 128 * 128].view(-1, 128)
    with torch.no_grad():
        log_p = torch.cat(
            [gpt(some)[:, :-1].log_softmax(-1).gather(-1, some[:, 1:, None]) for some in windows.split(20)]
        )
    loss = -log_p.mean().item()
    bits = loss / math.log(2) * len(ids) / sum(len(text.encode()) for text in texts)
    # the held-out docstrings differ between Python versions
    tolerance = 0.005 if platform.python_version() in stored.card["data"] else 0.1
    assert loss == pytest.approx(stored.card["held_out_loss"], rel=tolerance)
    assert bits == pytest.approx(stored.card["held_out_bits_per_byte"], rel=tolerance)
    assert stored.card["parameters"] == sum(p.numel() for p in gpt.parameters())


@pytest.mark.parametrize("name", NAMES)
def test_stored_model_stays_within_size_limit(name):
    assert (FOLDER / name / MODEL).stat().st_size <= 4 * 2**20
    assert (FOLDER / name / TOKENIZER).stat().st_size <= 2**18


def test_all_stored_models_stay_within_size_limit():
    assert sum(path.stat().st_size for path in FOLDER.rglob("*")) < 9 * 2**20


@pytest.mark.parametrize("name", NAMES)
def test_card_lists_parameter_count(name):
    stored = trained(name)
    assert stored.card["parameters"] == sum(tensor.numel() for tensor in stored.parameters.values())


def test_store_and_load_preserve_half_precision(tmp_path, monkeypatch):
    monkeypatch.setattr("transformer_course.stored_models.stored_model.FOLDER", tmp_path)
    tokenizer, table = bpe_tokenizer(["to be or not to be"], 262), torch.tensor([[0.1, -2.5]])
    store(tmp_path / "small", {"table": table}, tokenizer, {"sizes": {"d_model": 2}})
    again = trained("small")
    assert again.sizes == {"d_model": 2}
    assert again.parameters["table"].dtype == torch.float32
    assert torch.equal(again.parameters["table"], table.half().float())
    assert again.tokenizer.encode("to be").ids == tokenizer.encode("to be").ids


SMALL = {"vocab_size": 7, "d_model": 4, "n_heads": 2, "n_layers": 2, "context_length": 3}


def small_stored_model():
    torch.manual_seed(0)
    return StoredModel(dict(library_gpt(SMALL).state_dict()), bpe_tokenizer([], 260), {"sizes": SMALL})


class Renamed(parts.GPT):
    """A learner's class that uses a different name for the positions and has a separate output matrix."""

    def __init__(self, **sizes):
        super().__init__(**sizes)
        self.places = self.positions
        del self.positions
        self.output = nn.Linear(4, 7, bias=False)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (Renamed(**SMALL), "do not fit Renamed: the model has no positions; there are no stored parameters "
         "for the model's output.weight, places. Create the model with vocab_size=7, d_model=4, n_heads=2, n_layers=2, "
         "context_length=3 and the parameter names of the lesson"),
        (parts.GPT(**{**SMALL, "context_length": 5}), "positions has shape (5, 4) in the model but (3, 4) in the file"),
        (parts.GPT(**{**SMALL, "n_layers": 1}), "the model has no blocks.1.feed_forward.w_1.bias, "
         "blocks.1.feed_forward.w_1.weight, blocks.1.feed_forward.w_2.bias and 13 more"),
    ],
)  # fmt: skip
def test_rejects_mismatched_parameters_and_preserves_model(model, message):
    stored, before = small_stored_model(), {name: tensor.clone() for name, tensor in model.state_dict().items()}
    del stored.parameters["head.weight"]
    with pytest.raises(ValueError, match=re.escape(message)):
        stored.load_into(model)
    assert all(torch.equal(tensor, before[name]) for name, tensor in model.state_dict().items())


def test_unknown_name_error_lists_all_models():
    with pytest.raises(
        ValueError,
        match="no stored model 'gpt-5'; choose one of gpt-docstrings, gpt-plays, llama-plays, messages-en-fr",
    ):
        trained("gpt-5")
