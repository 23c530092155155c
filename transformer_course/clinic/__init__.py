"""The bug clinic of lesson 12: small Transformers with one bug each, instruments, and a record of measurements.

In reading order: ``task`` defines the task that all patients learn, and ``patient`` a healthy patient with its training
and inference. ``case_report`` lists the diagnoses, and ``patients`` contains sixteen patients, one of which is healthy.
``instruments`` measures the patients, ``findings`` compares each measurement with the healthy twin's, and
``record`` counts the measurements. Uses the model library, ``generation`` and ``training``.

A lesson uses it as follows::

    from transformer_course.clinic import instruments
    from transformer_course.clinic.findings import findings
    from transformer_course.clinic.record import Clinic
    from transformer_course.clinic.case_report import DIAGNOSES

    clinic = Clinic()
    case = clinic.admit(3)                     # patients are numbered from 1 to 16 and trained on first use
    case.complaint                             # the problem reported by the owner
    case.losses()                              # DataFrame: the training curve, next to the healthy twin's
    case.answers()                             # DataFrame with the columns question, answer and right
    case.measure(instruments.leak_test)        # DataFrame; counts as one measurement
    case.normal(instruments.leak_test)         # the healthy twin's result; free
    DIAGNOSES                                  # {"A": "healthy: nothing is wrong", …}: 20 to choose from
    case.diagnose("H")                         # "Right: …" or "Not this one. …", which counts as two measurements
    case.report(), case.source()               # after the correct diagnosis: Report(bug, repair, address, test), code
    clinic.summary()                           # DataFrame: one row per case, with its score
    findings(range(1, 17))                     # DataFrame of booleans: one row per patient, one column per instrument

Training a patient takes one to three CPU seconds. Six patients are not trained: they copy their twin's parameters.
An instrument takes 0.1 s, except for ``overfit_one_batch``, which takes 0.5 s.

An instrument is any function that takes a patient (``case.patient``). It can use the patient's ``model``,
``batch(pairs)``, ``logits(batch)``, ``backward(batches)``, ``optimizer()``, ``decoding(questions)``,
``answer(questions)`` and ``losses``.
"""
