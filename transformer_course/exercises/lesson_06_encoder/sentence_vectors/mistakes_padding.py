"""What goes wrong in a mean of vectors with the padding: which vectors are added up."""

import torch
from torch import Tensor

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_06_encoder.sentence_vectors.answer import STEPS


def _leading(real: Tensor) -> Tensor:
    """Return a mask of as many first tokens as there are real ones."""
    return torch.arange(real.shape[1]) < real.sum(dim=1, keepdim=True)


def _overwritten(x: Tensor, real: Tensor) -> Tensor:
    x[~real] = 0.0
    return x


MISTAKES = [
    Mistake(
        "padding_only_behind",
        STEPS.but(real=lambda real: _leading(real)),
        does="the first vectors are averaged, as many as there are real tokens",
        says=(
            "Right as long as all padding stands behind the sentence: {does}. Where padding stands in front, it is "
            "taken for them."
        ),
        hints=["In a sentence with padding in front, which vectors are averaged?"],
    ),
    Mistake(
        "all_sentences_in_one",
        STEPS.but(mean=lambda x, real: x[real].mean(dim=0)),
        STEPS.but(total=lambda x, real: x[real].sum(dim=0)),
        STEPS.but(mean=lambda x, real: x[real].mean(dim=0).expand(len(x), -1)).attempt,
        does="the real tokens of all sentences are thrown together",
        says="{does}: picking vectors by a mask of shape (batch, n) forgets which sentence each belongs to.",
        hints=["Which shape has `x[real]`, and which shape is asked for?"],
    ),
    Mistake(
        "erased_in_place",
        STEPS.but(without_padding=lambda x, real: _overwritten(x, real)),
        does="the vectors of the padding are overwritten in x itself",
    ),
]
