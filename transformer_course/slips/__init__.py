"""Slips: wrong answers that nobody has to write, made from the steps of a right one.

In the order of reading: ``expression_edits``, what may be done otherwise in one expression, and ``value_edits``, what
to a value; ``answer_slips``, the slips of a whole answer, from its edits and from the way its steps hang together;
``slip``, one slip, and the mistake that it is; ``code_differences``, what two pieces of code do not share, and
``wording``, how a slip is told in the words of its step; ``catalogue``, the slips of each exercise as they are stored
in ``catalogues/``, from where a check takes them. Uses ``exercise``.

``python -m authoring.build_slips`` makes the catalogues: it keeps what behaves like nothing that is known already.
"""
