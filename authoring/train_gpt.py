"""The GPT that lesson 09 loads into the learner's own classes, trained for longer than a lesson can wait.

``python -m authoring.train_gpt`` trains it on English that every Python brings along, and stores parameters, tokenizer
and card where ``transformer_course.stored_models`` finds them. What ``python_docstrings`` holds out is held out here as
well, so the lesson may measure on it. Stopped, the command goes on from ``CHECKPOINT`` when it is called again.
"""

import ast
import hashlib
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
from transformer_lab.atomic_write import atomic_write
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
STEPS, BATCH, SEED = 4_000, 8, 0
MUON_RATE, ADAMW_RATE, WEIGHT_DECAY, WARMUP, COOLDOWN = 0.03, 6e-3, 0.01, 100, 0.2
REPORT_EVERY = 100
CHECKPOINT = Path("build") / "gpt.pt"
FIRST = 8
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


class Training:
    """A run that can be stopped, stored, and taken up again where it was.

    Attributes:
        losses: The loss of each step so far: nats per token of a random batch.
        seconds: Processor time so far.
    """

    def __init__(self, ids: Int[Tensor, " n"]) -> None:
        self.ids, self.model = ids, new_model()
        self.random = torch.Generator().manual_seed(SEED)
        self.optimizers = make_muon(self.model, MUON_RATE, ADAMW_RATE, WEIGHT_DECAY)
        self.peaks = [group["lr"] for group in self._groups()]
        self.losses: list[float] = []
        self.seconds = 0.0

    def step(self, n_steps: int) -> float:
        """Take the next of n_steps steps, and return its loss."""
        start, length = time.process_time(), SIZES["context_length"] + 1
        for group, peak in zip(self._groups(), self.peaks, strict=True):
            group["lr"] = peak * rate_factor(len(self.losses), n_steps)
        starts = torch.randint(len(self.ids) - length, (BATCH, 1), generator=self.random)
        batch = self.ids[starts + torch.arange(length)]
        loss = batch_loss(self.model, (batch[:, :-1],), batch[:, 1:], PAD_ID) / (BATCH * (length - 1))
        self.model.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        for optimizer in self.optimizers:
            optimizer.step()
        self.losses.append(loss.item())
        self.seconds += time.process_time() - start
        return self.losses[-1]

    def _groups(self) -> list[dict[str, Any]]:
        """List the optimisers' groups, which are others after ``resume``."""
        return [group for optimizer in self.optimizers for group in optimizer.param_groups]

    def save(self, path: Path) -> None:
        """Store the run, whole or not at all."""
        state = {
            "model": self.model.state_dict(),
            "optimizers": [optimizer.state_dict() for optimizer in self.optimizers],
            "random": self.random.get_state(),
            "losses": self.losses,
            "seconds": self.seconds,
        }
        with atomic_write(path) as temporary:
            torch.save(state, temporary)

    def resume(self, path: Path) -> None:
        """Go on where the stored run was."""
        state = torch.load(path)
        self.model.load_state_dict(state["model"])
        for optimizer, stored in zip(self.optimizers, state["optimizers"], strict=True):
            optimizer.load_state_dict(stored)
        self.random.set_state(state["random"])
        self.losses, self.seconds = state["losses"], state["seconds"]


@torch.no_grad()
def mean_loss(model: nn.Module, ids: Int[Tensor, " n"]) -> float:
    """Return the mean loss of a text, cut into windows as long as the model reads."""
    length = SIZES["context_length"]
    windows = ids[: len(ids) // length * length].view(-1, length)
    losses = [batch_loss(model, (some[:, :-1],), some[:, 1:], PAD_ID).item() for some in torch.split(windows, 16)]
    return sum(losses) / (len(windows) * (length - 1))


def card(model: nn.Module, tokenizer: Tokenizer, losses: Sequence[float], minutes: float) -> dict[str, Any]:
    """Return what is to be known of a trained model."""
    training, (_, held_out) = texts(), python_docstrings()
    ids = encoded(held_out, tokenizer)
    loss = mean_loss(model, ids)
    rows = [*range(0, len(losses), REPORT_EVERY), len(losses)]
    trained_on = "".join(training).encode()
    return {
        "command": COMMAND,
        "data": f"docstrings of the standard library of Python {platform.python_version()}, and its language reference",
        "licence_of_the_data": "PSF License Agreement",
        "training_bytes": len(trained_on),
        "training_sha256": hashlib.sha256(trained_on).hexdigest(),
        "sizes": SIZES,
        "parameters": sum(p.numel() for p in model.parameters()),
        "steps": len(losses),
        "tokens_per_step": BATCH * SIZES["context_length"],
        "cpu_minutes": round(minutes, 1),
        "machine": "one thread of a busy virtual machine without AVX-512; a quiet core of today takes less",
        "held_out_loss": round(loss, 3),
        "held_out_bits_per_byte": round(bits_per_byte(loss, len(ids), sum(len(t.encode()) for t in held_out)), 3),
        "first_losses": [round(loss, 4) for loss in losses[:FIRST]],
        "mean_losses": {end: round(sum(losses[start:end]) / (end - start), 3) for start, end in pairwise(rows)},
    }


def main(n_steps: int = STEPS) -> None:
    """Train the model, and store it."""
    torch.set_num_threads(1)
    training = texts()
    tokenizer = bpe_tokenizer(training, SIZES["vocab_size"])
    run = Training(encoded(training, tokenizer))
    if CHECKPOINT.exists():
        run.resume(CHECKPOINT)
    CHECKPOINT.parent.mkdir(exist_ok=True)
    while len(run.losses) < n_steps:
        run.step(n_steps)
        if len(run.losses) % REPORT_EVERY == 0:
            run.save(CHECKPOINT)
            mean = sum(run.losses[-REPORT_EVERY:]) / REPORT_EVERY
            print(f"step {len(run.losses)} of {n_steps}: loss {mean:.2f}, {run.seconds / 60:.1f} minutes", flush=True)
    # The head's matrix is the embedding once more.
    parameters = {name: tensor for name, tensor in run.model.state_dict().items() if name != "head.weight"}
    store(FOLDER / NAME, parameters, tokenizer, card(run.model, tokenizer, run.losses, run.seconds / 60))
    CHECKPOINT.unlink(missing_ok=True)


if __name__ == "__main__":
    main()
