"""Patient 11."""

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from transformer_course.clinic.case_report import Report
from transformer_course.clinic.patient import DecoderOnly
from transformer_course.clinic.task import PAD_ID
from transformer_lab.attention.masks import padding_mask
from transformer_lab.models import language_model


class LanguageModel(language_model.LanguageModel):
    """The model of patient 11."""

    def mask(self, text: Int[Tensor, "batch n_key"], n_query: int) -> Bool[Tensor, "*batch n_query n_key"] | None:
        """Return the mask for the last ``n_query`` tokens of a text."""
        causal = torch.ones(n_query, text.shape[1], dtype=torch.bool).tril()
        return padding_mask(text, PAD_ID) & causal


class Patient(DecoderOnly):
    """Patient 11."""

    number = 11
    complaint = "The training loss is low, but most answers go wrong after the first letter."
    trains_as_twin = True
    part = LanguageModel


REPORT = Report(
    diagnosis="F",
    bug="The mask has one row for each new token and one column for each key, but its diagonal starts at the top left. "
    "The first new token may attend only to the first key, as if the cache were empty.",
    repair="causal.tril(n_key − n_query), which aligns the last query with the last key",
    address="pytorch#103082: is_causal=True does the same",
    test="Logits with a cache, token by token, equal the logits without a cache within 1e-5 at every position.",
)
