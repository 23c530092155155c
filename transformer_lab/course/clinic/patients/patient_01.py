"""Patient 1."""

from jaxtyping import Float
from torch import Tensor

from transformer_lab.course.clinic.patient import Batch, EncoderDecoder
from transformer_lab.course.clinic.report import Report


class Patient(EncoderDecoder):
    """Patient 1."""

    number = 1
    complaint = "The training loss is the lowest that the owner has ever seen. The answers are nonsense."

    def logits(self, batch: Batch) -> Float[Tensor, "batch n vocab_size"]:
        """Return the logits of the next token at every position, as in training."""
        return self.model(batch.targets, batch.inputs)


REPORT = Report(
    diagnosis="J",
    bug="In training the target goes into both stacks: the encoder reads the answer, so the decoder need only copy it. "
    "When the model answers, there is none to copy.",
    repair="self.model(batch.source, batch.inputs)",
    address="No single address: tutorials that give nn.Transformer one tensor for both arguments do this",
    test="Change one token of the answer: no prediction of it or of a token before it may change.",
)
