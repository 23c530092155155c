"""Patient 6."""

from torch import nn

from transformer_course.clinic.case_report import Report
from transformer_course.clinic.patient import DecoderOnly


class Patient(DecoderOnly):
    """Patient 6."""

    number = 6
    complaint = "It learns slowly. A colleague's model with the same sizes and data was done long before."

    def build(self) -> nn.Module:
        """Return the model."""
        model = super().build()
        nn.init.normal_(model.get_parameter("head.weight"))
        return model


REPORT = Report(
    diagnosis="M",
    bug="The output layer shares its weights with the embeddings, which are initialized with a standard deviation of "
    "0.1. Initialized a second time with 1, they produce logits of size √d_model.",
    repair="Initialize a shared matrix only once, with the standard deviation that the output layer needs.",
    address="transformers#26441: T5's output layer, not tied there, was initialized with a standard deviation of 1; "
    "first loss about 110",
    test="The loss of an untrained model is within a few tenths of ln(vocab_size).",
)
