"""What authors build and measure for the lessons: not shipped with the course.

``glossary`` and ``interview_questions`` collect from the sections that ``lesson_text`` finds; ``page_to_keep`` puts the
course on one sheet of paper. ``notebooks/build.py`` and ``docs/site`` use them. ``train_residual_runs`` trains what a
view shows, and ``train_translator`` the model that lesson 08 loads, on what ``message_pairs`` reads. ``train_gpt`` and
``train_plays``, which reads ``plays``, train those of lessons 09 and 11, by the recipe of ``language_model_training``;
``stored_runs`` has what the scripts of a lesson's longer runs share: ``train_bottleneck_runs`` (00),
``train_neighbor_runs`` (03), ``train_position_runs`` (05), ``train_stack_runs`` (06), ``train_decoder_runs`` (07),
``train_block_seeds`` (11) and ``train_room_to_think`` (14). ``record_heads`` records heads of a published model for
lesson 03. ``downloads`` fetches what they read, ``model_card`` is what all their cards say.
``build_generated_mistakes`` makes the catalogs of generated mistakes that a check recognizes, without those that
``clear_edits`` finds no sentence for, ``messages`` prints what
an exercise says, and ``package_map`` draws which package may import which. ``ablation`` judges the results of a
capstone.
"""
