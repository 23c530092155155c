"""Define the writers under test, each with functions that write the previous content, write new content, and retry."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import torch
from torch import nn

from tests.fuzz.readers import LLAMA, SIZES
from tests.transformer_lab.pretrained.marian_folder import ENGLISH, GERMAN
from transformer_course.checking.verdict import Verdict
from transformer_course.exercises import every_exercise
from transformer_course.grading.incoming.submission import Submission
from transformer_course.grading.judging.graded_results import GradedExercise, GradedSubmission
from transformer_course.grading.judging.student_records import Records
from transformer_course.grading.reports.class_results import class_results
from transformer_course.grading.reports.feedback import write_feedback
from transformer_course.workspace.saved_parts import _write_section
from transformer_lab.atomic_write import atomic_write_text
from transformer_lab.data.corpus import LineErrors
from transformer_lab.data.prepare import prepare, prepare_text
from transformer_lab.data.tokenizers import bpe_tokenizer
from transformer_lab.models.language_model import LanguageModel
from transformer_lab.models.transformer import Transformer
from transformer_lab.models.transformer_config import TransformerConfig
from transformer_lab.pretrained.load import save_pretrained
from transformer_lab.tensor_files import write_tensors
from transformer_lab.text.translator import Translator
from transformer_lab.training.checkpoint import save_training
from transformer_lab.training.log import Log
from transformer_lab.training.optimizer import make_optimizer

Write = Callable[[Path], object]


class Writer(NamedTuple):
    """A component that writes files.

    Args:
        first: Writes the previous content.
        second: Writes the new content. Faults are injected into this call.
        again: Writes the new content again, without faults.
        appended: Files to which the writer appends. After a fault, they must still start with their previous content.
        incomplete: Files that may be incomplete after a fault, because another file, written last, marks them complete.
        names: Names of further files or folders that an error message may contain.
    """

    first: Write
    second: Write
    again: Write
    appended: tuple[str, ...] = ()
    incomplete: tuple[str, ...] = ()
    names: tuple[str, ...] = ()


def versions(write: Callable[[Path, int], object], **rest: tuple[str, ...]) -> Writer:
    """Return a writer that first writes version 1 and then version 2."""
    return Writer(lambda folder: write(folder, 1), lambda folder: write(folder, 2), lambda f: write(f, 2), **rest)


def _tensors(folder: Path, version: int) -> None:
    write_tensors(folder / "model.safetensors", {"a": torch.full((500, 7), version)}, {"version": version})


def _checkpoint(folder: Path, version: int) -> None:
    torch.manual_seed(version)
    model = nn.Linear(3, 2)
    optimizer = make_optimizer(model)
    model(torch.ones(5, 3)).sum().backward()
    optimizer.step()
    save_training(folder / "checkpoint.safetensors", model, optimizer, {"step": version})


def _published(folder: Path, version: int) -> None:
    torch.manual_seed(version)
    save_pretrained(LanguageModel(LLAMA), folder, eos_id=version, tokenizer=bpe_tokenizer(ENGLISH, 260 + version))


def _description(folder: Path, version: int) -> None:
    tokenizer = bpe_tokenizer([*ENGLISH, *GERMAN], 260 + version)
    shape = TransformerConfig(tokenizer.get_vocab_size(), **SIZES)
    Translator(Transformer(shape), tokenizer).save_description(folder)


def _log(folder: Path) -> None:
    Log(folder / "log.csv", 0).add(step=1, loss=0.5)


def _add(folder: Path) -> None:
    Log(folder / "log.csv", 1).add(step=2, loss=0.25)


def _corpus(folder: Path) -> None:
    lines = [f"{source}\t{target}" for source, target in zip(ENGLISH, GERMAN, strict=True)]
    (folder / "corpus.tsv").write_text("\n".join(lines) + "\n", "utf-8")
    (folder / "text.txt").write_text("\n<|endoftext|>\n".join([*ENGLISH, *GERMAN]) + "\n", "utf-8")


def _prepare(folder: Path) -> None:
    prepare([folder / "corpus.tsv"], folder / "data", 270, 30, LineErrors())


def _prepare_text(folder: Path) -> None:
    prepare_text([folder / "text.txt"], folder / "data", 270, 30, hold_out=True, errors=LineErrors())


def _part(folder: Path, version: int) -> None:
    _write_section(folder / "parts" / "lesson_01_lookup.py", "softmax", f"def softmax(x):\n    return {version}\n")


SUBMISSION = Submission("ada", Path("class", "ada", "01_lookup.ipynb"), "01_lookup", digest="5e")


def _graded(version: int) -> GradedSubmission:
    verdict = Verdict("softmax", "mistake", f"Two rows {version}", ("first_axis",), ("Look.",))
    return GradedSubmission(SUBMISSION, [GradedExercise(every_exercise()["softmax"], verdict, 0.25)])


def _record(folder: Path, version: int) -> None:
    Records(folder, {"seed": version}).write("ada", [SUBMISSION], [_graded(version)], {})


def _feedback(folder: Path, version: int) -> None:
    write_feedback(folder / "feedback", class_results({"ada": [_graded(version)], "zoe": [_graded(version)]}))


def _text(folder: Path, version: int) -> None:
    atomic_write_text(folder / "settings.json", f'{{"version": {version}}}' * 999)


DATA = ("data", "tokenizer.json", "source.tokens", "target.tokens", "source.lengths.npy", "target.lengths.npy",
        "windows.tokens", "windows.lengths.npy", "held_out.txt", "origin.json")  # fmt: skip
WRITERS: dict[str, Writer] = {
    "a text": versions(_text),
    "tensors": versions(_tensors),
    "a checkpoint": versions(_checkpoint),
    "a published model": versions(_published),
    "a translator's description": versions(_description),
    "the log": Writer(_log, _add, _add, appended=("log.csv",)),
    "a prepared corpus": Writer(_corpus, _prepare, _prepare, names=DATA),
    "prepared texts": Writer(_corpus, _prepare_text, _prepare_text, names=DATA),
    "a learner's part": versions(_part),
    "a student's record": versions(_record),
    "pages of feedback": versions(_feedback),
}
