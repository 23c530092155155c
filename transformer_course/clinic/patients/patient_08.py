"""Patient 8."""

from collections.abc import Sequence

from jaxtyping import Int
from torch import Tensor

from transformer_course.clinic.case_report import Report
from transformer_course.clinic.patient import DropoutDecoderOnly
from transformer_course.clinic.task import BOS_ID, MAX_LENGTH, encode, pad
from transformer_lab.generation.decoding_state import DecodingState, TextState


class Patient(DropoutDecoderOnly):
    """Patient 8."""

    number = 8
    complaint = "Its probabilities cannot be reproduced, not even on the same machine."
    trains_as_twin = True

    def decoding(self, questions: Sequence[str]) -> tuple[DecodingState, Int[Tensor, "batch n"]]:
        """Prepare the model for answering, with questions padded on the left so that all answers start together."""
        prompts = pad([[*encode(question), BOS_ID] for question in questions], left=True)
        return TextState(self.model, MAX_LENGTH), prompts


REPORT = Report(
    diagnosis="L",
    bug="model.eval() is not called before the model answers, so dropout stays active.",
    repair="self.model.eval()",
    address="No single bug report: it happens to everyone. The documentation of nn.Module.eval warns about it",
    test="The same question gives the same logits twice.",
)
