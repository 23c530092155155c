"""Patient 5."""

import torch
from jaxtyping import Int
from torch import Tensor

from transformer_course.clinic.case_report import Report
from transformer_course.clinic.patient import DecoderOnly
from transformer_lab.models import language_model


class LanguageModel(language_model.LanguageModel):
    """The model of patient 5."""

    def position_ids(self, text: Int[Tensor, "batch n"]) -> Int[Tensor, "#batch n"]:
        """Return the position of every token in each text."""
        return torch.arange(text.shape[1])[None]


class Patient(DecoderOnly):
    """Patient 5."""

    number = 5
    complaint = "It reverses a word alone correctly. In a batch with longer words, it often fails on the same word."
    trains_as_twin = True
    part = LanguageModel


REPORT = Report(
    diagnosis="K",
    bug="Positions are column indices. A short question is padded on the left, so its first letter gets a "
    "position that no first letter had in training.",
    repair="Number only the real tokens: (text != pad_id).cumsum(dim=1) − 1.",
    address="transformers#21080: GPT-2 with padding on the left; transformers#22382: GPT-NeoX and Llama",
    test="The logits of a text are the same with and without padding before it.",
)
