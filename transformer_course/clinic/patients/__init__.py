"""The patients, numbered from 1. Each module makes one change to a healthy model.

Close a patient's case before you read its module.
"""

import inspect
from importlib import import_module
from typing import Any

from transformer_course.clinic.case_report import Report
from transformer_course.clinic.patient import Patient

N_PATIENTS = 16


def patient_class(number: int) -> type[Patient]:
    """Return the class of a patient.

    Raises:
        ValueError: There is no patient with this number.
    """
    return _module(number).Patient


def report(number: int) -> Report:
    """Return the report of a patient, which reveals the bug. Raises the same errors as ``patient_class``."""
    return _module(number).REPORT


def source(number: int) -> str:
    """Return the code of a patient: its replaced modules and its class. Raises the same errors as ``patient_class``."""
    module = _module(number)
    classes = [x for x in vars(module).values() if inspect.isclass(x) and x.__module__ == module.__name__]
    return "\n\n".join(inspect.getsource(x) for x in classes)


def _module(number: int) -> Any:
    if not 1 <= number <= N_PATIENTS:
        raise ValueError(f"the patient's number must be from 1 to {N_PATIENTS}; got {number}")
    return import_module(f"{__name__}.patient_{number:02}")
