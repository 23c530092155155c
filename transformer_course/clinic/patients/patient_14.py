"""Patient 14."""

from jaxtyping import Float, Int
from torch import Tensor

from transformer_course.clinic.case_report import Report
from transformer_course.clinic.patient import DecoderOnly
from transformer_lab.models import language_model


class LanguageModel(language_model.LanguageModel):
    """The model of patient 14."""

    def embed(
        self, tokens: Int[Tensor, "batch n"], positions: Int[Tensor, "#batch n"]
    ) -> Float[Tensor, "batch n d_model"]:
        """Return the embeddings of tokens, plus those of their positions."""
        return super().embed(tokens, positions - positions[:, :1])


class Patient(DecoderOnly):
    """Patient 14."""

    number = 14
    complaint = "The training loss is low, but most answers go wrong after their first letter."
    trains_as_twin = True
    part = LanguageModel


REPORT = Report(
    diagnosis="G",
    bug="The positions of each call begin at 0. Without a cache there is one call; with a cache every new token gets "
    "the position of the first.",
    repair="Count on from the number of tokens in the cache: super().embed(tokens, positions).",
    address="nanoGPT#613 is a cache whose texts differ from those without",
    test="Logits with a cache, token by token, equal those without to 1e-5, at every position.",
)
