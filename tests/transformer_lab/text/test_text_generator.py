"""Test that a published language model generates the same texts as ``transformers`` with the same folder."""

import json

import pytest
import torch
import transformers

from tests.transformer_lab.pretrained.language_model_folders import END, FORMS, publish
from tests.transformer_lab.pretrained.small_checkpoints import VARIANTS, drawn
from transformer_lab.data.tokenizers import EOS_ID, UNKNOWN_ID, bpe_tokenizer, character_tokenizer
from transformer_lab.fast.language_model_decoding_step import LanguageModelStep
from transformer_lab.generation.decode import generate
from transformer_lab.models.language_model import LanguageModel
from transformer_lab.models.language_model_config import LanguageModelConfig
from transformer_lab.pretrained.load import save_pretrained
from transformer_lab.text import text_generator
from transformer_lab.text.text_generator import TextGenerator

PROMPTS = ["the cat", "a dog barks at", "Katze €"]


def text(model, prompt, *arguments, **options):
    return "".join(model.stream(prompt, *arguments, **options))


def their_text(folder, form, model, prompt, n_tokens):
    if form == "vocab.json":
        tokenizer = transformers.GPT2Tokenizer(str(folder / "vocab.json"), str(folder / "merges.txt"))
    else:
        tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_file=str(folder / "tokenizer.json"))
    inputs = tokenizer(prompt, return_tensors="pt")
    tokens = model.generate(
        inputs["input_ids"], attention_mask=inputs["attention_mask"], max_new_tokens=n_tokens, do_sample=False,
        pad_token_id=model.config.eos_token_id,
    )[0]  # fmt: skip
    options = {"skip_special_tokens": True, "clean_up_tokenization_spaces": False}
    return tokenizer.decode(tokens, **options)[len(tokenizer.decode(inputs["input_ids"][0], **options)) :]


@pytest.mark.parametrize("form", FORMS)
def test_greedy_text_matches_transformers(tmp_path, form):
    theirs = publish(tmp_path, form)
    ours = TextGenerator.load(tmp_path)
    texts = [text(ours, prompt, 12, temperature=0) for prompt in PROMPTS]
    assert texts == [their_text(tmp_path, form, theirs, prompt, 12) for prompt in PROMPTS]
    assert len(set(texts)) == 3 and all(texts)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("published")
    publish(folder)
    return folder


@pytest.fixture
def model(folder):
    return TextGenerator.load(folder)


def test_samples_match_the_library(model):
    options = {"temperature": 0.9, "top_k": 40, "top_p": 0.95}
    tokens = torch.tensor([model.tokenizer.encode("the cat").ids])
    [ids] = generate(model.model, tokens, 15, **options, generator=torch.Generator().manual_seed(3)).tolist()
    expected = model.tokenizer.decode(ids)[len("the cat") :]
    assert text(model, "the cat", 15, **options, generator=torch.Generator().manual_seed(3)) == expected
    assert text(model, "the cat", 15, **options, generator=torch.Generator().manual_seed(4)) != expected


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"max_new_tokens": 12, "stops": ["d", "ogs"]},
        {"max_new_tokens": 20, "repetition_penalty": 1.2},
    ],
    ids=["default limit", "stops", "penalty"],
)
def test_batched_prompts_match_single_prompts(model, options):
    prompts = [*PROMPTS, "a cat", "the cat", "", "the dog", "the mat"]
    alone = [text(model, prompt, temperature=0, **options) for prompt in prompts]
    if "stops" not in options:  # add a case in which some texts end early, at the third new token of the first text
        model.eos_ids = [299, generate_ids(model, "the cat", 3)[2]]
        ended = [text(model, prompt, temperature=0, **options) for prompt in prompts]
        assert ended != alone
        alone = ended
    for batch_size in (2, 64):
        assert model.generate(prompts, temperature=0, batch_size=batch_size, **options) == alone
    assert len(set(alone)) > 3


def generate_ids(model, prompt, n):
    ids = torch.tensor([model.tokenizer.encode(prompt).ids])
    return generate(model.model, ids, n, temperature=0)[0, ids.shape[1] :].tolist()


def test_batches_prompts_of_equal_length_with_separate_samples(model):
    passes = record_passes(model)
    samples = model.generate(["the cat"] * 9, 5, generator=torch.Generator().manual_seed(1))
    assert len(passes) <= 5 and len(set(samples)) > 2
    assert model.generate([], 5) == []


def test_applies_repetition_penalty_and_min_p(model):
    usual = text(model, "the cat", 20, temperature=0)
    assert text(model, "the cat", 20, temperature=0, repetition_penalty=1.5) != usual
    assert text(model, "the cat", 20, min_p=1.0) == usual


def record_passes(model):
    """Return a list that records the number of tokens in each pass through the model."""
    passes = []
    model.model.blocks[0].register_forward_hook(lambda _, args, __: passes.append(args[0].shape[1]))
    return passes


def test_new_tokens_use_the_fast_path(model, monkeypatch):
    calls, step = [], LanguageModelStep.__call__
    monkeypatch.setattr(LanguageModelStep, "__call__", lambda *args: calls.append(args) or step(*args))
    model.eos_ids, ids = [], torch.tensor([model.tokenizer.encode("the cat").ids])
    text(model, "the cat", 5)
    model.generate(["the cat"] * 3, 6)
    generate(model.model, ids, 7)
    assert len(calls) == 4 + 5 + 6


def test_default_limit_is_the_model_maximum_length(model):
    passes = record_passes(model)
    model.eos_ids = []
    text(model, "the cat", temperature=0)
    assert sum(passes) == model.model.config.max_length == 29  # the model never reads the last generated token


@pytest.mark.parametrize("several", [False, True])
def test_stops_at_an_eos_token(folder, tmp_path, several):
    model = TextGenerator.load(folder)
    ids = [generate(model.model, torch.tensor([model.tokenizer.encode("the cat").ids]), 9, temperature=0)[0].tolist()]
    n_prompt = len(model.tokenizer.encode("the cat").ids)
    last = next(n for n in range(n_prompt + 2, n_prompt + 9) if ids[0].index(ids[0][n]) == n)
    for path in folder.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    config = json.loads((tmp_path / "config.json").read_text())
    config["eos_token_id"] = [0, ids[0][last]] if several else ids[0][last]
    (tmp_path / "config.json").write_text(json.dumps(config))
    ended = text(TextGenerator.load(tmp_path), "the cat", 9, temperature=0)
    assert ended == model.tokenizer.decode(ids[0][:last])[len("the cat") :]
    assert len(ended) < len(text(model, "the cat", 9, temperature=0))


def test_stops_before_a_stop_string_without_extra_steps(model):
    whole = text(model, "the cat", 12, temperature=0)
    stop = whole[3:6]
    passes = record_passes(model)
    assert text(model, "the cat", 12, temperature=0, stops=[stop, "never"]) == whole[: whole.index(stop)]
    assert 0 < len(passes) < 12


def test_empty_prompt_uses_the_bos_token(model):
    assert text(model, "", 5, temperature=0) == text(model, END, 5, temperature=0) != ""
    model.bos_id = None
    with pytest.raises(ValueError, match="the prompt is empty, but this model has no beginning-of-text token"):
        model.stream("")


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"prompt": "cat " * 30}, r"the prompt has \d\d tokens; the model accepts 1 to 29 tokens \(max_length\)$"),
        (
            {"max_new_tokens": 99},
            r"max_new_tokens must be between 1 and 2\d for this model and prompt; got max_new_tokens=99",
        ),
        ({"max_new_tokens": 0}, "got max_new_tokens=0"),
        ({"temperature": -1.0}, r"temperature must be above 0 to sample; got temperature=-1.0$"),
        ({"top_p": 1.5}, "top_p=1.5"),
        ({"stops": ["a", ""]}, "stop string must not be empty"),
        ({"repetition_penalty": 0.0}, "repetition_penalty must be a finite number above 0; got 0.0"),
    ],
    ids=["prompt", "too many", "none", "temperature", "top_p", "stop", "penalty"],
)
def test_rejects_invalid_arguments_before_generating(model, arguments, message):
    passes = record_passes(model)
    with pytest.raises(ValueError, match=message):
        model.stream(**{"prompt": "the cat"} | arguments)
    assert passes == []


def test_continuation_keeps_its_leading_space(tmp_path, monkeypatch):
    publish(tmp_path, "Llama")
    model = TextGenerator.load(tmp_path)
    word = model.tokenizer.token_to_id("▁dog")
    monkeypatch.setattr(text_generator, "generate_steps", lambda *_: iter([torch.tensor([word])]))
    assert text(model, "the") == " dog"
    assert model.tokenizer.decode([word]) == "dog"


@pytest.mark.parametrize("vocabulary", ["characters", "byte pairs"])
def test_tokenizes_special_tokens_as_during_training(tmp_path, vocabulary):
    word = "<pad> or <unk><eos>"
    tokenizer = character_tokenizer([word]) if vocabulary == "characters" else bpe_tokenizer([word], 300)
    ids = tokenizer.encode(word).ids
    config = LanguageModelConfig.llama(tokenizer.get_vocab_size(), d_model=8, n_heads=2, d_ff=7, n_layers=1)
    save_pretrained(LanguageModel(config), tmp_path, EOS_ID, EOS_ID, tokenizer)
    loaded = TextGenerator.load(tmp_path)
    assert loaded.tokenizer.encode(word).ids == ids and min(ids) > UNKNOWN_ID
    assert loaded.tokenizer.decode(ids) == word


def test_rejects_tokenizer_for_a_different_model(tmp_path):
    publish(tmp_path)
    drawn(VARIANTS["GPT-2"]).save_pretrained(tmp_path)
    with pytest.raises(ValueError, match=r"less than vocab_size=37; the tokenizer's largest id is \d\d\d"):
        TextGenerator.load(tmp_path)


@pytest.mark.parametrize("value", ["end", [1, "end"], 1.5, True], ids=str)
def test_rejects_eos_that_is_not_a_token_id(folder, tmp_path, value):
    for path in folder.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps(config | {"eos_token_id": value}))
    with pytest.raises(ValueError, match=r"config.json: eos_token_id must be a token id or a list of token ids; got"):
        TextGenerator.load(tmp_path)
