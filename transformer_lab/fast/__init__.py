"""Fast paths: what the plain code computes, in less time, and at the cost of some plainness.

Nothing here is needed to understand a model, and nothing else is written otherwise because of it: where a fast path
does not apply, the plain one is taken. A test of each shows that both compute the same, gradients included.

In reading order, with what each takes off a training step of the small model of ``benchmarks/``, on one thread:
``vocabulary_loss`` makes the gradients of the last layer on the way forward (6 to 13 %); ``dropout`` draws its mask
from fewer random numbers, which halves the time of dropout (8 %); ``packed_rows`` and ``packed_models`` do no work on
padding (28 %, where a third of the batch is padding); ``packed_attention`` attends to sentences of up to 128 tokens by
the formula (9 % at 128 tokens, 0 to 3 % at 24). ``feed_forward``, ``residual`` and ``tied_embedding`` write a part's
gradients by hand, so that fewer matrices are allocated, copied and added up (2 to 3 % together). They stand on
``plain_modules``, which knows whose ``forward`` need not be called, and ``gradients_by_hand``, which leaves autograd
out where no gradients are wanted. Uses ``models``.
"""
