"""Fast paths: the same results as the plain code in less time, at the cost of readability.

You do not need this package to understand a model, and no other code is written differently because of it. If a fast
path does not apply, the plain code runs; tests check that both compute the same results, including gradients. All fast
paths use ``bypass`` to decide whether they may skip calling a module.

For training, in reading order, with the time saved in a training step of the small model in ``benchmarks/`` on one
thread: ``vocabulary_loss`` computes the gradients of the last layer during the forward pass (6 to 13 %); ``dropout``
draws its mask from fewer random numbers, which halves the time of dropout (8 %); ``packed_rows`` and ``packed_models``
skip padding (28 % if a third of the batch is padding); ``packed_attention`` computes attention with the plain formula
for sentences of up to 128 tokens (9 % at 128 tokens, 0 to 3 % at 24).

For decoding: ``transformer_decoding_step`` and ``language_model_decoding_step`` read one token of each row in 0.44 to
0.70 of the plain code's time, using the layers of ``functional_layers`` and, for translation, the cache of
``beam_cache``. Uses ``models``.
"""
