"""Tools for authors. This package is not part of the distribution.

Reference pages: ``glossary`` and ``interview_questions`` collect sections of the lessons, which ``lesson_text`` finds,
and ``page_to_keep`` summarizes the course on one sheet of paper. ``notebooks/build.py`` and ``docs/site`` use them.

Stored models: ``train_translator`` trains lesson 08's model on the sentence pairs of ``message_pairs``. ``train_gpt``
and ``train_plays`` train the models of lessons 09 and 11 with ``language_model_training``; ``plays`` reads the plays.
``downloads`` downloads the training texts, and ``model_card`` contains the fields that all model cards share.

Stored runs, for training that is too slow for a lesson: ``train_bottleneck_runs`` (00), ``train_neighbor_runs`` (03),
``train_position_runs`` (05), ``train_stack_runs`` (06), ``train_decoder_runs`` (07), ``train_few_shot_runs`` (09),
``train_draft_runs`` (10), ``train_block_seeds`` (11), ``train_expert_runs`` (architectures), ``train_precision_runs``
(13) and ``train_room_to_think`` (14). These scripts share ``stored_runs``. ``train_residual_runs`` trains the stacks of
the residual stream view. ``record_heads`` records attention heads of a published model for lesson 03.
``score_questions`` records a published model's scores for the lesson on evaluation, and ``train_on_the_test`` trains
small models for the same lesson. For the lesson on tokenizers, ``compare_tokenizers`` counts the tokens of published
tokenizers, ``spell_words`` asks a published model for letters, and ``train_adders`` trains models that add numbers.
``chat_template`` formats questions to a published chat model.

Messages: ``build_generated_mistakes`` builds the catalogs of generated mistakes, without the edits that ``clear_edits``
rejects as unclear. ``messages`` prints the messages of an exercise.

``package_map`` draws which package may import which, and ``ablation`` evaluates the results of a capstone project.
"""
