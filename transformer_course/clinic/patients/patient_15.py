"""Patient 15."""

import math

from jaxtyping import Float, Int
from torch import Tensor

from transformer_course.clinic.case_report import Report
from transformer_course.clinic.patient import EncoderDecoder
from transformer_lab.models import encoder


class PreNormEncoder(encoder.PreNormEncoder):
    """The encoder of patient 15."""

    def embed(self, tokens: Int[Tensor, "batch n"], start: int = 0) -> Float[Tensor, "batch n d_model"]:
        """Return the embeddings of tokens."""
        return self.dropout(self.embedding(tokens) * math.sqrt(self.embedding.embedding_dim))


class Patient(EncoderDecoder):
    """Patient 15."""

    number = 15
    complaint = "Most answers have the right letters in the wrong order."
    part = PreNormEncoder


REPORT = Report(
    diagnosis="O",
    bug="The encoder never adds the positional encodings, so it reads a word as a set of letters.",
    repair="self.dropout(self.embedding(tokens) * scale + self.positions[: tokens.shape[1]])",
    address="No single bug report: nn.Transformer adds no positional encodings, and no warning reminds you",
    test="The memory of a word with shuffled letters differs from the shuffled memory of the word.",
)
