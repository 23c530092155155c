"""The GPT that lesson 09 loads into the learner's own classes, trained for longer than a lesson can wait.

``python -m authoring.train_gpt`` trains it on English that every Python brings along, and stores parameters, tokenizer
and card where ``transformer_course.stored_models`` finds them. What ``python_docstrings`` holds out is held out here as
well, so the lesson may measure on it.
"""

import ast
import platform
import sysconfig
import time
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Int
from tokenizers import Tokenizer
from torch import Tensor, nn

from transformer_course.stored_models.stored_model import FOLDER, store
from transformer_lab.data.docstrings import docstrings_of, python_docstrings
from transformer_lab.data.tokenizers import BOS_ID, PAD_ID, bpe_tokenizer
from transformer_lab.models.language_model import LanguageModel
from transformer_lab.models.language_model_config import LanguageModelConfig
from transformer_lab.training.loss import batch_loss
from transformer_lab.training.metrics import bits_per_byte
from transformer_lab.training.muon import make_muon

NAME = "gpt-docstrings"
COMMAND = "python -m authoring.train_gpt"
SIZES = {"vocab_size": 2048, "d_model": 128, "n_heads": 4, "n_layers": 4, "context_length": 128}
STEPS, BATCH, SEED = 200, 8, 0
MUON_RATE, ADAMW_RATE, WEIGHT_DECAY, WARMUP, COOLDOWN = 0.03, 6e-3, 0.01, 100, 0.3
REPORT_EVERY = 100
FIRST = 12
"""Number of steps whose losses the card has one by one; a test takes the same steps."""
LEFT_OUT = {"distutils", "ensurepip", "idlelib", "lib2to3", "pydoc_data", "site-packages", "dist-packages"}
LEFT_OUT |= {"test", "tests", "tkinter", "turtledemo"}
"""Packages that some installations lack, or that hold little English."""


def texts(folder: Path | None = None) -> list[str]:
    """Return the texts to train on: docstrings of modules and of packages, and the reference that ``help()`` shows.

    Args:
        folder: Where the modules are; by default, where this Python keeps its own.
    """
    folder = Path(sysconfig.get_path("stdlib")) if folder is None else folder
    return [*python_docstrings(folder)[0], *packages(folder), *reference(folder)]


def packages(folder: Path) -> Iterator[str]:
    """Yield the docstrings of each module of a package; ``python_docstrings`` takes those outside of packages."""
    seen: set[str] = set()
    for path in sorted(folder.glob("*/**/*.py")):
        if not LEFT_OUT & set(path.relative_to(folder).parts):
            new = [text for text in dict.fromkeys(docstrings_of(path.read_bytes())) if text not in seen]
            seen.update(new)
            if new:
                yield "\n\n".join(new)


def reference(folder: Path) -> list[str]:
    """Return the topics of the language reference, as ``help("FORMATTING")`` shows them."""
    tree = ast.parse((folder / "pydoc_data" / "topics.py").read_bytes())
    (assignment,) = (node for node in tree.body if isinstance(node, ast.Assign))
    return list(ast.literal_eval(assignment.value).values())


def encoded(texts: Sequence[str], tokenizer: Tokenizer) -> Int[Tensor, " n"]:
    """Return the tokens of all texts in a row, each after ``<bos>``."""
    return torch.tensor([token for text in texts for token in [BOS_ID, *tokenizer.encode(text).ids]])


def new_model() -> LanguageModel:
    """Return the untrained model: the library's, in the form of the GPT that lesson 09 builds."""
    torch.manual_seed(SEED)
    d_model, context_length = SIZES["d_model"], SIZES["context_length"]
    config = LanguageModelConfig(
        SIZES["vocab_size"], d_model=d_model, n_heads=SIZES["n_heads"], d_ff=4 * d_model, n_layers=SIZES["n_layers"],
        max_length=context_length, dropout=0.0, feed_forward="relu",
    )  # fmt: skip
    return LanguageModel(config)


def rate_factor(step: int, n_steps: int) -> float:
    """Return the learning rate at a step as a fraction of its peak: it rises, stays, and falls at the end to 0."""
    return min(1.0, (step + 1) / WARMUP, (n_steps - step) / (COOLDOWN * n_steps))


def train(model: LanguageModel, ids: Int[Tensor, " n"], n_steps: int = STEPS) -> Iterator[float]:
    """Take the steps, and yield the loss of each: nats per token of a random batch."""
    random = torch.Generator().manual_seed(SEED)
    length = SIZES["context_length"] + 1
    optimizers = make_muon(model, MUON_RATE, ADAMW_RATE, WEIGHT_DECAY)
    groups = [(group, group["lr"]) for optimizer in optimizers for group in optimizer.param_groups]
    for step in range(n_steps):
        for group, peak in groups:
            group["lr"] = peak * rate_factor(step, n_steps)
        starts = torch.randint(len(ids) - length, (BATCH, 1), generator=random)
        batch = ids[starts + torch.arange(length)]
        loss = batch_loss(model, (batch[:, :-1],), batch[:, 1:], PAD_ID) / (BATCH * (length - 1))
        model.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for optimizer in optimizers:
            optimizer.step()
        yield loss.item()


@torch.no_grad()
def mean_loss(model: nn.Module, ids: Int[Tensor, " n"]) -> float:
    """Return the mean loss of a text, cut into windows as long as the model reads."""
    length = SIZES["context_length"]
    windows = ids[: len(ids) // length * length].view(-1, length)
    losses = [batch_loss(model, (some[:, :-1],), some[:, 1:], PAD_ID).item() for some in windows.split(16)]
    return sum(losses) / (len(windows) * (length - 1))


def card(model: nn.Module, tokenizer: Tokenizer, losses: Sequence[float], minutes: float) -> dict[str, Any]:
    """Return what is to be known of a trained model."""
    training, (_, held_out) = texts(), python_docstrings()
    ids = encoded(held_out, tokenizer)
    loss = mean_loss(model, ids)
    rows = [*range(0, len(losses), REPORT_EVERY), len(losses)]
    return {
        "command": COMMAND,
        "data": f"docstrings of the standard library of Python {platform.python_version()}, and its language reference",
        "training_bytes": sum(len(text.encode()) for text in training),
        "sizes": SIZES,
        "parameters": sum(p.numel() for p in model.parameters()),
        "steps": len(losses),
        "tokens_per_step": BATCH * SIZES["context_length"],
        "cpu_minutes": round(minutes, 1),
        "held_out_loss": round(loss, 3),
        "held_out_bits_per_byte": round(bits_per_byte(loss, len(ids), sum(len(t.encode()) for t in held_out)), 3),
        "first_losses": [round(loss, 4) for loss in losses[:FIRST]],
        "mean_losses": {end: round(sum(losses[start:end]) / (end - start), 3) for start, end in pairwise(rows)},
    }


def main() -> None:
    """Train the model, and store it."""
    torch.set_num_threads(1)
    training = texts()
    tokenizer = bpe_tokenizer(training, SIZES["vocab_size"])
    ids, model = encoded(training, tokenizer), new_model()
    start, losses = time.process_time(), []
    for loss in train(model, ids):
        losses.append(loss)
        if len(losses) % REPORT_EVERY == 0:
            mean = sum(losses[-REPORT_EVERY:]) / REPORT_EVERY
            print(f"step {len(losses)} of {STEPS}: loss {mean:.2f}", flush=True)
    minutes = (time.process_time() - start) / 60
    # The head's matrix is the embedding once more.
    parameters = {name: tensor for name, tensor in model.state_dict().items() if name != "head.weight"}
    store(FOLDER / NAME, parameters, tokenizer, card(model, tokenizer, losses, minutes))


if __name__ == "__main__":
    main()
