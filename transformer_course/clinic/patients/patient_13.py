"""Patient 13."""

from collections.abc import Sequence

from transformer_course.clinic.case_report import Report
from transformer_course.clinic.patient import Batch, DecoderOnly
from transformer_course.clinic.task import PAD_ID
from transformer_lab.training.loss import count_tokens, smoothed_cross_entropy


class Patient(DecoderOnly):
    """Patient 13."""

    number = 13
    complaint = "On the same texts in the same order, it learns differently with two micro-batches than with one."
    n_micro_batches = 2

    def backward(self, batches: Sequence[Batch]) -> float:
        """Accumulate the gradient over micro-batches and return the loss, averaged over all tokens."""
        total = 0.0
        for batch in batches:
            n_tokens = int(count_tokens(batch.targets, PAD_ID))
            loss = smoothed_cross_entropy(self.logits(batch), batch.targets, PAD_ID) / n_tokens / len(batches)
            loss.backward()  # type: ignore[no-untyped-call]
            total += loss.item()
        return total


REPORT = Report(
    diagnosis="I",
    bug="The loss of each micro-batch is the mean over its own tokens, and these means are averaged, so a token in a "
    "short micro-batch counts more than one in a long micro-batch.",
    repair="Divide each sum by the total number of tokens in all micro-batches.",
    address="transformers#34191",
    test="The gradient of four micro-batches equals that of one batch within 1e-5, even if the texts differ in length.",
)
