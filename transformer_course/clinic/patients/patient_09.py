"""Patient 9."""

from transformer_course.clinic.case_report import Report
from transformer_course.clinic.patient import DecoderOnly


class Patient(DecoderOnly):
    """Patient 9."""

    number = 9
    complaint = "It learns and answers well. The owner wants it checked before others rely on it."
    trains_as_twin = True


REPORT = Report(
    diagnosis="A",
    bug="None.",
    repair="None.",
    address="None.",
    test="It passes every test.",
)
