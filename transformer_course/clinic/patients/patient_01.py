"""Patient 1."""

from jaxtyping import Float
from torch import Tensor

from transformer_course.clinic.case_report import Report
from transformer_course.clinic.patient import Batch, EncoderDecoder


class Patient(EncoderDecoder):
    """Patient 1."""

    number = 1
    complaint = "The training loss is low. Asked for a word backwards, it mostly returns the word as it is."

    def logits(self, batch: Batch) -> Float[Tensor, "batch n vocab_size"]:
        """Return the logits of the next token at every position, as in training."""
        return self.model(batch.targets, batch.inputs)


REPORT = Report(
    diagnosis="J",
    bug="In training the target goes into both stacks: the encoder reads the answer, so the decoder need only copy it. "
    "When the model answers, the encoder reads the question, and the decoder copies that.",
    repair="self.model(batch.source, batch.inputs)",
    address="No single address: tutorials that give nn.Transformer one tensor for both arguments do this",
    test="Change one token of the answer: no prediction of it or of a token before it may change.",
)
