"""Fast paths: what the plain code computes, in less time, and at the cost of some plainness.

Nothing here is needed to understand a model, and nothing else is written differently because of it. Where a fast path
does not apply, the plain one is taken, and tests show for each that both compute the same, gradients included. All ask
``bypass`` whether a module need not be called.

Training, in reading order, with what each takes off a training step of the small model of ``benchmarks/``, on one
thread: ``vocabulary_loss`` computes the gradients of the last layer during the forward pass (6 to 13 %); ``dropout``
draws its mask from fewer random numbers, which halves the time of dropout (8 %); ``packed_rows`` and ``packed_models``
do no work on padding (28 %, where a third of the batch is padding); ``packed_attention`` computes attention of
sentences of up to 128 tokens by the formula (9 % at 128 tokens, 0 to 3 % at 24).

Decoding: ``transformer_decoding_step`` and ``language_model_decoding_step`` read one token of each row, in 0.44 to 0.70
of the plain path's time, with the layers of ``functional_layers`` and, for translations, the cache of ``beam_cache``.
Uses ``models``.
"""
