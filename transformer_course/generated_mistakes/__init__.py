"""Generate typical mistakes automatically from the steps of a correct answer.

In reading order: ``expression_edits`` lists edits of one expression, from the ``confusable_code`` that people mix up,
and ``call_edits`` those of a call; ``expression_syntax`` reads and writes the code. ``value_edits`` lists operations
applied to a value by mistake. ``answer_edits`` combines them into the generated mistakes of a whole answer, and
``generated_mistake`` makes one of them a mistake of an exercise.

Messages are composed by ``wording``, a table of templates by kind. Templates that depend on the replaced code are in
``omission_wordings``, ``operation_wordings`` and ``dimension_wordings``. ``template_slots`` fills them with words from
``step_words``, with ``phrases`` (a line of code in English) and ``code_differences`` (what differs between two pieces
of code). ``code_match`` decides whether a message fits a learner's code.

``catalog`` reads the generated mistakes of each exercise from ``catalogs/``. ``python -m
authoring.build_generated_mistakes`` writes them and keeps only those that a sentence can describe and that behave
differently from all known mistakes. Uses ``exercise``.
"""
