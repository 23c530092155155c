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
        """Return the token embeddings plus the position embeddings."""
        return super().embed(tokens, positions - positions[:, :1])


class Patient(DecoderOnly):
    """Patient 14."""

    number = 14
    complaint = "The training loss is low, but most answers go wrong after the first letter."
    trains_as_twin = True
    part = LanguageModel


REPORT = Report(
    diagnosis="G",
    bug="The positions of each call start at 0. Without a cache there is only one call. With a cache, every new token "
    "gets position 0.",
    repair="Continue counting from the number of cached tokens: super().embed(tokens, positions).",
    address="nanoGPT#613: the texts generated with a cache differ from texts generated without",
    test="Logits with a cache, token by token, equal the logits without a cache within 1e-5 at every position.",
)
