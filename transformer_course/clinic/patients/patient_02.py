"""Patient 2."""

import torch

from transformer_course.clinic.case_report import Report
from transformer_course.clinic.patient import WEIGHT_DECAY, DecoderOnly


class Patient(DecoderOnly):
    """Patient 2."""

    number = 2
    complaint = "It learns and answers well. The owner plans a run a hundred times as long and wants it checked first."

    def optimizer(self) -> torch.optim.Optimizer:
        """Return the optimizer. Training sets its learning rate at every step."""
        return torch.optim.AdamW(self.model.parameters(), betas=(0.9, 0.98), eps=1e-9, weight_decay=WEIGHT_DECAY)


REPORT = Report(
    diagnosis="N",
    bug="All parameters are in one group, so the norm weights, which start at 1, and all biases decay as well.",
    repair="Use two groups: matrices with decay, norms and biases without, as in make_optimizer.",
    address="lit-llama#254",
    test="A step with zero gradients must leave every norm and every bias unchanged.",
)
