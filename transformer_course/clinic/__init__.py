"""The bug clinic of lesson 12: small Transformers with one bug each, instruments, and a record of what was measured.

In reading order: ``task`` is what all patients learn; ``patient`` is a healthy one, from the batch to the answer;
``case_report`` lists the diagnoses; ``patients`` are sixteen, of which one is healthy; ``instruments`` measure;
``findings`` compares every measurement with that of a healthy twin; ``record`` counts. Uses the model library,
``generation`` and ``training``.

A lesson needs this much::

    from transformer_course.clinic import instruments
    from transformer_course.clinic.findings import findings
    from transformer_course.clinic.record import Clinic
    from transformer_course.clinic.case_report import DIAGNOSES

    clinic = Clinic()
    case = clinic.admit(3)                     # patients are numbered from 1 to 16; it is trained when first needed
    case.complaint                             # what the owner reports
    case.losses()                              # DataFrame: the training curve, beside that of the healthy twin
    case.answers()                             # DataFrame: question, answer, right
    case.measure(instruments.leak_test)        # DataFrame; counts as one measurement
    case.normal(instruments.leak_test)         # the same of the healthy twin; free
    DIAGNOSES                                  # {"A": "healthy: nothing is wrong", …}: 20 to choose from
    case.diagnose("H")                         # "Right: …" or "Not this one. …"; a wrong one counts as two measurements
    case.report(), case.source()               # after the right diagnosis: Report(bug, repair, address, test), and code
    clinic.summary()                           # DataFrame: a row for each case, with its score
    findings(range(1, 17))                     # DataFrame of booleans: which instrument finds which patient, measured

A patient trains in one to three CPU seconds; six of them take over the parameters of a twin that others have, too. An
instrument takes a tenth of a second, except ``overfit_one_batch``: half a second.

An instrument is any function of a patient (``case.patient``): ``model``, ``batch(pairs)``, ``logits(batch)``,
``backward(batches)``, ``optimizer()``, ``decoding(questions)``, ``answer(questions)``, ``losses``.
"""
