"""What authors build and measure for the lessons: not shipped with the course.

``glossary`` and ``interview_questions`` collect from the sections that ``lesson_text`` finds; ``page_to_keep`` puts the
course on one sheet of paper. ``notebooks/build.py`` and ``docs/site`` use them. ``train_residual_runs`` trains what a
view shows, and ``train_translator`` the model that lesson 08 loads, on what ``message_pairs`` reads. ``train_gpt`` and
``train_plays``, which reads ``plays``, train those of lessons 09 and 11, by the recipe of ``language_model_training``;
``train_block_seeds`` gives lesson 11 more seeds than it runs, ``train_position_runs`` gives lesson 05 more settings,
``train_bottleneck_runs`` lesson 00, ``train_stack_runs`` the layers of lesson 06, and ``train_room_to_think`` the
policies of lesson 14. ``downloads`` fetches what they read, ``model_card`` is what all their cards say.
``build_generated_mistakes`` makes the catalogs of generated mistakes that a check recognizes, ``messages`` prints what
an exercise says, and ``package_map`` draws which package may import which. ``ablation`` judges the results of a
capstone.
``train_neighbor_runs`` trains more models for lesson 03; ``record_heads`` records heads of a published model for it.
``train_decoder_runs`` trains models of lesson 07.
"""
