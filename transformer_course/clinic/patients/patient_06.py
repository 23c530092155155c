"""Patient 6."""

from torch import nn

from transformer_course.clinic.case_report import Report
from transformer_course.clinic.patient import DecoderOnly


class Patient(DecoderOnly):
    """Patient 6."""

    number = 6
    complaint = "It learns slowly. A colleague's, with the same sizes and data, was done long before."

    def build(self) -> nn.Module:
        """Return the model."""
        model = super().build()
        nn.init.normal_(model.get_parameter("head.weight"))
        return model


REPORT = Report(
    diagnosis="M",
    bug="The last layer's weights are the embeddings, which have been drawn with a spread of 0.1 already. Drawn again, "
    "with a spread of 1, they give logits as large as √d_model.",
    repair="Draw a matrix that two layers share once, with the spread that the last layer needs.",
    address="transformers#26441: T5's last layer, not tied there, was drawn with a spread of 1: first loss about 110",
    test="The loss of an untrained model is ln(vocab_size), within a few tenths.",
)
