"""Generated mistakes: wrong answers that nobody has to write, made from the steps of a right one.

In the order of reading: ``expression_edits``, what may be done otherwise in one expression, and ``value_edits``, what
to a value; ``answer_edits``, the generated mistakes of a whole answer, from its edits and from the way its steps hang
together; ``generated_mistake``, one generated mistake, and the mistake that it is; ``code_differences``, what two
pieces of code do not share, ``phrases``, what a line of code does, in English, and ``wording``, how a generated mistake
is told in the words of its step; ``catalog``, the generated mistakes of each exercise as they are stored in
``catalogs/``, from where a check takes them. Uses ``exercise``.

``python -m authoring.build_generated_mistakes`` makes the catalogs: it keeps what behaves like nothing that is known
already.
"""
