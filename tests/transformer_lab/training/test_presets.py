"""Tests that recipes use the presets, and that the command line can show presets without importing torch."""

import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

from transformer_lab.models.language_model import LanguageModel
from transformer_lab.models.language_model_config import LanguageModelConfig
from transformer_lab.models.transformer import Transformer
from transformer_lab.models.transformer_config import TransformerConfig
from transformer_lab.training.presets import CORPUS, CORPUS_SHAPE, DATES, DATES_SHAPE, TEXT, TEXT_SHAPE
from transformer_lab.training.recipes import CORPUS_MODEL, DATES_MODEL, TEXT_MODEL

ROOT = Path(__file__).parents[3]


def test_presets_load_without_torch():
    script = "import sys, transformer_lab.training.presets; print(*sys.modules)"
    env = {"PATH": "", "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=env, check=True)
    loaded = done.stdout.split()
    assert "transformer_lab.training.presets" in loaded and "torch" not in loaded


def test_recipes_use_the_preset_shapes():
    for shape, config in ((DATES_SHAPE, DATES_MODEL), (CORPUS_SHAPE, CORPUS_MODEL)):
        assert shape.items() <= asdict(config).items()
        other_options = asdict(config).keys() - shape.keys() - {"vocab_size"}
        default = asdict(TransformerConfig(vocab_size=500))
        assert {name: asdict(config)[name] for name in other_options} == {name: default[name] for name in other_options}


def test_text_model_uses_its_preset():
    assert LanguageModelConfig(**TEXT_SHAPE) == TEXT_MODEL


def test_models_have_the_documented_sizes():
    dates = sum(p.numel() for p in Transformer(TransformerConfig(vocab_size=481, **DATES_SHAPE)).parameters())
    corpus = sum(p.numel() for p in Transformer(TransformerConfig(**CORPUS_SHAPE)).parameters())
    assert 0.25e6 < dates < 0.27e6
    assert 5e6 < corpus < 8e6
    assert 5.1e6 < sum(p.numel() for p in LanguageModel(LanguageModelConfig(**TEXT_SHAPE)).parameters()) < 5.3e6


def test_warmup_ends_before_the_last_step():
    assert all(0 < config.warmup < config.steps for config in (DATES, CORPUS, TEXT))
