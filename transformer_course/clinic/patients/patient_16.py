"""Patient 16."""

from jaxtyping import Float, Int
from torch import Tensor

from transformer_course.clinic.case_report import Report
from transformer_course.clinic.patient import EncoderDecoder
from transformer_lab.models import transformer


class Transformer(transformer.Transformer):
    """The model of patient 16."""

    def encode(self, source: Int[Tensor, "batch n_source"]) -> Float[Tensor, "batch n_source d_model"]:
        """Return the memory: the encoder's output, which every decoder layer attends to."""
        return self.encoder(source)


class Patient(EncoderDecoder):
    """Patient 16."""

    number = 16
    complaint = "It learns and answers well. Its probabilities for a word change with the rest of the batch."
    part = Transformer


REPORT = Report(
    diagnosis="P",
    bug="The encoder's layers get no mask, so words attend to the padding after them.",
    repair="self.encoder(source, padding_mask(source, pad_id))",
    address="pytorch#22374: at first, nn.Transformer had no argument for masking padding",
    test="The logits of a text are the same with and without padding after it.",
)
