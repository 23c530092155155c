"""Generate common mistakes automatically from the steps of a correct answer.

In reading order: ``expression_edits`` lists edits to an expression, based on the tables in ``confusable_code``, and
``call_edits`` lists edits to a call; ``expression_syntax`` parses and formats the code. ``value_edits`` lists
operations that people apply to a value by mistake. ``answer_edits`` applies these edits to a complete answer, and
``generated_mistake`` turns each edited answer into a mistake with a message and hints.

``wording`` composes the messages from a table of templates, one for each kind of mistake. Templates that depend on the
replaced code are in ``omission_wordings``, ``operation_wordings`` and ``dimension_wordings``. ``template_slots`` fills
the templates with words from ``step_words``, ``phrases``, which translates a line of code into English, and
``code_differences``, which compares two pieces of code. ``code_match`` decides whether a message fits a learner's code.

``catalog`` reads the generated mistakes of each exercise from ``catalogs/``. ``python -m
authoring.build_generated_mistakes`` writes these files. The script keeps only mistakes that a sentence can describe and
that behave differently from all known mistakes. Uses ``exercise``.
"""
