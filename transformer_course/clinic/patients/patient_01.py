"""Patient 1."""

from jaxtyping import Float
from torch import Tensor

from transformer_course.clinic.case_report import Report
from transformer_course.clinic.patient import Batch, EncoderDecoder


class Patient(EncoderDecoder):
    """Patient 1."""

    number = 1
    complaint = "The training loss is low. Asked to reverse a word, the model mostly returns it unchanged."

    def logits(self, batch: Batch) -> Float[Tensor, "batch n vocab_size"]:
        """Return the logits of the next token at every position, as in training."""
        return self.model(batch.targets, batch.inputs)


REPORT = Report(
    diagnosis="J",
    bug="In training, both stacks get the target: the encoder reads the answer, so the decoder only has to copy it. At "
    "inference, the encoder reads the question, and the decoder copies the question.",
    repair="self.model(batch.source, batch.inputs)",
    address="No single bug report: tutorials that pass nn.Transformer one tensor for both arguments do this",
    test="Change one token of the answer. The predictions for this token and for the tokens before it must not change.",
)
