"""From logits to token ids.

In reading order: ``sampling`` chooses the next token, ``decoding_state`` is a model in the middle of generating,
``repetition_penalty`` keeps texts from repeating themselves, ``decode`` is the loop over the tokens, ``beam_search``
follows several texts at once, ``speculative`` lets a smaller model draft. Uses ``models``, and for single tokens
``fast``.
"""
