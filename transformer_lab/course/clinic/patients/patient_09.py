"""Patient 9."""

from transformer_lab.course.clinic.patient import DecoderOnly
from transformer_lab.course.clinic.report import Report


class Patient(DecoderOnly):
    """Patient 9."""

    number = 9
    complaint = "It learns, and answers well. The owner wants it checked before others rely on it."
    trains_as_twin = True


REPORT = Report(
    diagnosis="A",
    bug="None.",
    repair="None.",
    address="None.",
    test="All of them, and it passes each.",
)
