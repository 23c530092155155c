"""Test lesson 11's code for published weights against ``transformers`` on a small random version of SmolLM2."""

import json
from pathlib import Path

import pytest
import torch
import transformers
from tokenizers import Tokenizer, models, pre_tokenizers

from authoring.stored_runs import defined
from transformer_course.published_models.published import published as download
from transformer_course.stored_models import stored_model
from transformer_lab.pretrained.load import load_language_model

NEEDED = {"RMSNorm", "HeadProjection", "two_matrices", "Block", "Model", "NAMES", "SIZES", "own_llama"}
NEEDED |= {"published_model", "continued", "smollm_answer"}
WORDS = ["the", "cat", "sat", "on", "a", "mat", *(f"word{i}" for i in range(37))]


@pytest.fixture(scope="module")
def lesson() -> dict[str, object]:
    """The lesson's definitions that these tests need."""
    return defined(NEEDED, "11_modern_block")


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in the format of SmolLM2-135M, with the same heads, RoPE base, ε and tied embeddings, but only two
    layers.
    """
    folder = tmp_path_factory.mktemp("published")
    tokenizer = Tokenizer(models.WordLevel({word: i for i, word in enumerate(WORDS)}, unk_token="the"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    config = transformers.LlamaConfig(
        vocab_size=len(WORDS), hidden_size=576, num_attention_heads=9, num_key_value_heads=3, intermediate_size=1536,
        num_hidden_layers=2, rms_norm_eps=1e-5, tie_word_embeddings=True, rope_theta=100_000.0, initializer_range=0.04,
    )  # fmt: skip
    torch.manual_seed(0)
    model = transformers.LlamaForCausalLM(config)
    model.save_pretrained(folder)
    options = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    (folder / "config.json").write_text(json.dumps(options | {"rope_theta": 100_000.0}), encoding="utf-8")
    return folder


def theirs(folder: Path) -> transformers.LlamaForCausalLM:
    model = transformers.LlamaForCausalLM.from_pretrained(folder).eval()
    assert "lm_head.weight" not in set(transformers.modeling_utils.load_state_dict(folder / "model.safetensors"))
    return model


def test_lesson_classes_match_published_logits(lesson, published):
    tensors = lesson["read_model_tensors"](published)
    tensors.setdefault("lm_head.weight", tensors["model.embed_tokens.weight"])
    options = lesson["read_json"](published / "config.json")
    ids = torch.randint(len(WORDS), (3, 29))
    with torch.no_grad():
        expected = theirs(published)(ids).logits
        ours = lesson["own_llama"](options, tensors, lesson["parts"].pairs_from_halves)(ids)
        unpermuted = lesson["own_llama"](options, tensors, lambda weight, _: weight)(ids)
    torch.testing.assert_close(ours, expected, atol=1e-4, rtol=1e-4)
    assert (unpermuted - expected).abs().max() > 0.01


def test_generated_text_matches_transformers(lesson, published):
    prompt = "the cat sat on a"
    ids = torch.tensor([[WORDS.index(word) for word in prompt.split()]])
    written = theirs(published).generate(
        ids, attention_mask=torch.ones_like(ids), max_new_tokens=12, do_sample=False, eos_token_id=None, pad_token_id=0
    )
    model, tokenizer = lesson["published_model"](published)
    text = lesson["continued"](model, tokenizer, prompt, 12, lambda logits: logits.argmax(dim=-1))
    assert text.split() == [WORDS[i] for i in written[0]]


def test_lesson_classes_match_stored_llama_logits(lesson):
    folder = stored_model.FOLDER / "llama-plays"
    actor, tokenizer = lesson["published_model"](folder)
    ids = torch.randint(tokenizer.get_vocab_size(), (2, 100), generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        torch.testing.assert_close(actor(ids), load_language_model(folder)(ids), atol=1e-3, rtol=1e-3)


def test_answer_is_a_single_speech(lesson):
    actor, tokenizer = lesson["published_model"](stored_model.FOLDER / "llama-plays")
    prompt = "ROMEO: Who art thou?\n\n"
    longer = lesson["continued"](actor, tokenizer, prompt, 80, lambda logits: logits.argmax(dim=-1))
    answer = lesson["continued"](actor, tokenizer, prompt, 80, lambda logits: logits.argmax(dim=-1), end="\n\n")
    assert longer.startswith(answer) and len(longer) > len(answer)
    assert answer.startswith(prompt)
    assert answer[len(prompt) :].strip()
    assert answer[len(prompt) :].count("\n\n") == 1
    assert len(tokenizer.encode(longer).ids) == pytest.approx(len(tokenizer.encode(prompt).ids) + 80, abs=5)


@pytest.mark.slow
def test_smollm2_answers_with_lesson_classes(lesson):
    try:
        folder = download("smollm2")
    except OSError as error:
        pytest.skip(f"SmolLM2 is not available here, so lesson 11 shows only stored outputs: {error}")
    lesson["smollm"], lesson["smollm_tokenizer"] = lesson["published_model"](folder)
    assert lesson["smollm_answer"]("What is the capital of France?") == "The capital of France is Paris."
    ids = torch.randint(49_152, (1, 20), generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        torch.testing.assert_close(lesson["smollm"](ids), load_language_model(folder)(ids), atol=1e-3, rtol=1e-3)
