"""Transformer Lab: the Transformer in plain PyTorch, and the course that takes it apart.

The model reads as a book, front to back; no chapter needs a later one.

1. **Attention.** ``dot_product``: a query looks keys up. ``checks``: what is refused. ``additive``: the way it was
   first done. ``masks``: who may look at whom. ``positions``: who stands where. ``cache``: what need not be computed
   twice. ``multi_head``: several attentions side by side. ``grouped_query``: with fewer keys.
2. **Layers.** ``feed_forward``: what is computed at each position by itself. ``norms``: numbers are kept at one size.
   ``stack``: embedded tokens and the layers on top of them. ``encoder``, ``decoder``: the two halves.
3. **Models.** ``transformer_config`` and ``transformer``: the paper's. ``language_model_config`` and
   ``language_model``: a decoder alone, from GPT-2 to Llama. ``recurrent``: what there was before. ``inspection``: how
   to look inside any of them.
4. **Writing.** ``sampling``: draw the next token. ``decoding``: token after token. ``beam_search``: several texts at
   once. ``speculative``: with the help of a smaller model. ``streaming``: text that is shown while it is written.

Set ``TRANSFORMER_LAB_CHECK_SHAPES=1`` before the first import to have every call checked against
its jaxtyping annotation. The tests and the lessons do; it is off otherwise, for speed.
"""

import os

if os.environ.get("TRANSFORMER_LAB_CHECK_SHAPES") == "1":
    from jaxtyping import install_import_hook

    # The numeric tower: where a float is wanted, 0 will do.
    install_import_hook(["transformer_lab"], "beartype.beartype(conf=beartype.BeartypeConf(is_pep484_tower=True))")
