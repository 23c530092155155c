"""Generated mistakes: wrong answers that nobody has to write, made from the steps of a right one.

In the order of reading: ``expression_edits``, what may be done otherwise in one expression, and ``value_edits``, what
to a value; ``answer_edits``, the generated mistakes of a whole answer, from its edits and from the way its steps hang
together; ``generated_mistake``, one generated mistake, and the mistake that it is. Its message is made by ``wording``,
a table of templates by kind; ``operation_wordings`` and ``dimension_wordings`` are templates that depend on the
replaced code, and ``template_slots`` are the words that fill them, from ``step_words``, with ``phrases``, what a line
of code does in English, and ``code_differences``, what two pieces of code do not share. ``code_match`` tells whether a
message fits a learner's code. ``catalog``: the generated
mistakes of each exercise as they are stored in ``catalogs/``, from where a check takes them. Uses ``exercise``.

``python -m authoring.build_generated_mistakes`` makes the catalogs: it keeps what behaves like nothing that is known
already.
"""
