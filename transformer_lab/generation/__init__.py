"""From logits to token ids.

In reading order: ``sampling`` chooses the next token, ``decoding_state`` is a model in the middle of generating,
``decode`` goes on token by token, ``beam_search`` with several texts at once, ``speculative`` with the help of a
smaller model. Uses ``models``.
"""
