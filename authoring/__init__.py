"""Tools for authors, which are not part of the distribution.

``glossary`` and ``interview_questions`` collect sections that ``lesson_text`` finds, and ``page_to_keep`` puts the
course on one sheet of paper; ``notebooks/build.py`` and ``docs/site`` use them. ``train_residual_runs`` trains the
stacks of the residual stream view, and ``train_translator`` trains lesson 08's model on the pairs of ``message_pairs``.
``train_gpt`` and ``train_plays``, which reads ``plays``, train the models of lessons 09 and 11 with
``language_model_training``. ``stored_runs`` is shared by the scripts of runs that are too long for a lesson:
``train_bottleneck_runs`` (00), ``train_neighbor_runs`` (03), ``train_position_runs`` (05), ``train_stack_runs`` (06),
``train_decoder_runs`` (07), ``train_few_shot_runs`` (09), ``train_block_seeds`` (11), ``train_expert_runs``
(architectures), ``train_precision_runs`` (13) and ``train_room_to_think`` (14). ``record_heads`` records attention
heads of a published model for lesson 03, and ``score_questions`` its scores for the lesson on evaluation, for which
``train_on_the_test`` trains small models. ``compare_tokenizers`` counts the tokens of published tokenizers.
``downloads`` downloads training texts, and ``model_card`` has the fields that all model cards share.
``build_generated_mistakes`` builds the catalogs of generated mistakes, without those that ``clear_edits`` rejects as
unclear. ``messages`` prints the messages of an exercise, and ``package_map`` draws which package may import which.
``ablation`` judges the results of a capstone.
"""
