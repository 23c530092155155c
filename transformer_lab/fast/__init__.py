"""Fast paths: the same results as the plain code in less time, at the cost of readability.

You do not need this package to understand a model, and no other code is written differently because of it. If a fast
path does not apply, the plain code runs; tests check that both compute the same results, including gradients. All fast
paths use ``bypass`` to decide whether they may skip calling a module.

For training, in reading order, with the time saved in a step of the small model in ``benchmarks/`` on one thread:

- ``vocabulary_loss`` (6 to 13 %) computes the gradients of the last layer during the forward pass.
- ``dropout`` (8 %) draws its mask from fewer random numbers, which halves the time that dropout takes.
- ``packed_rows`` and ``packed_models`` (28 % if a third of the batch is padding) skip padding.
- ``packed_attention`` (9 % at 128 tokens, 0 to 3 % at 24 tokens) uses the plain formula for up to 128 tokens.

For decoding, ``transformer_decoding_step`` and ``language_model_decoding_step`` take 0.44 to 0.70 times as long as the
plain code to read one token of each row. They use ``functional_layers`` and, for translation, ``beam_cache``. Uses
``models``.
"""
