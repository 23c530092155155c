"""Train lesson 09's GPT, which the lesson loads into the learner's own classes.

``python -m authoring.train_gpt`` trains the model on English text that ships with every Python installation and stores
its parameters, tokenizer and model card in ``transformer_course.stored_models``. The texts that ``python_docstrings``
holds out are also held out here, so the lesson can measure the loss on them. If you interrupt the command, run it again
to continue from ``CHECKPOINT``.
"""

import ast
import platform
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import torch
from jaxtyping import Int
from torch import Tensor

from authoring.language_model_training import SEED, Training, card, encoded
from transformer_course.stored_models.stored_model import FOLDER, store
from transformer_lab.data.docstrings import docstrings_of, python_docstrings
from transformer_lab.data.tokenizers import bpe_tokenizer
from transformer_lab.models.language_model import LanguageModel
from transformer_lab.models.language_model_config import LanguageModelConfig

NAME = "gpt-docstrings"
COMMAND = "python -m authoring.train_gpt"
SIZES = {"vocab_size": 2048, "d_model": 128, "n_heads": 4, "n_layers": 4, "context_length": 128}
N_STEPS, BATCH_SIZE = 4_000, 8
CHECKPOINT = Path("build") / "gpt.pt"
EXCLUDED_MODULES = {"distutils", "ensurepip", "idlelib", "lib2to3", "pydoc_data", "site-packages", "dist-packages"}
EXCLUDED_MODULES |= {"test", "tests", "tkinter", "turtledemo"}
"""Packages that are missing from some installations or contain little English."""


def texts(folder: Path | None = None) -> list[str]:
    """Return the training texts: docstrings of modules and packages, and the language reference that ``help()`` shows.

    Args:
        folder: Folder with the modules; by default, Python's standard library.
    """
    folder = Path(sysconfig.get_path("stdlib")) if folder is None else folder
    return [*python_docstrings(folder)[0], *packages(folder), *reference(folder)]


def packages(folder: Path) -> Iterator[str]:
    """Yield the docstrings of each module in a package. ``python_docstrings`` reads the modules outside packages."""
    known: set[str] = set()
    for path in sorted(folder.glob("*/**/*.py")):
        if not EXCLUDED_MODULES & set(path.relative_to(folder).parts):
            new = [text for text in dict.fromkeys(docstrings_of(path.read_bytes())) if text not in known]
            known.update(new)
            if new:
                yield "\n\n".join(new)


def reference(folder: Path) -> list[str]:
    """Return the topics of the language reference, such as ``help("FORMATTING")``."""
    tree = ast.parse((folder / "pydoc_data" / "topics.py").read_bytes())
    (assignment,) = (node for node in tree.body if isinstance(node, ast.Assign))
    return list(ast.literal_eval(assignment.value).values())


def gpt(vocab_size: int, d_model: int, n_heads: int, n_layers: int, context_length: int) -> LanguageModelConfig:
    """Return the library's configuration for lesson 09's GPT with these sizes."""
    return LanguageModelConfig(
        vocab_size, d_model=d_model, n_heads=n_heads, d_ff=4 * d_model, n_layers=n_layers, max_length=context_length,
        dropout=0.0, feed_forward="relu",
    )  # fmt: skip


def gpt_parameters(model: LanguageModel) -> dict[str, Tensor]:
    """Return the parameters under the names that lesson 09's GPT uses. Its output head is tied to the embedding."""
    return {name: tensor for name, tensor in model.state_dict().items() if name != "head.weight"}


def new_model() -> LanguageModel:
    """Return the untrained model."""
    torch.manual_seed(SEED)
    return LanguageModel(gpt(**SIZES))


def new_training(ids: Int[Tensor, " n"]) -> Training:
    """Return a new training run."""
    return Training(new_model(), ids, BATCH_SIZE, SIZES["context_length"])


def main(n_steps: int = N_STEPS) -> None:
    """Train the model and store it."""
    torch.set_num_threads(1)
    training = texts()
    tokenizer = bpe_tokenizer(training, SIZES["vocab_size"])
    run = new_training(encoded(training, tokenizer))
    run.run(n_steps, CHECKPOINT)
    data = f"docstrings of the standard library of Python {platform.python_version()}, and its language reference"
    about = {"command": COMMAND, "data": data, "license_of_the_data": "PSF License Agreement", "sizes": SIZES}
    held_out = python_docstrings()[1]
    store(FOLDER / NAME, gpt_parameters(run.model), tokenizer, card(run, training, held_out, tokenizer, **about))
    CHECKPOINT.unlink(missing_ok=True)


if __name__ == "__main__":
    main()
