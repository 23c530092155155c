"""From logits to token ids.

In reading order: ``sampling`` chooses the next token, ``decoding_state`` is a model in the middle of generating;
``decoder_step`` and ``text_step`` are a Transformer's and a language model's step in fewer operations, where
``unwatched`` says that nothing is left out by them; ``beam_cache`` keeps what the first of them computes. ``penalties``
keep texts from repeating themselves, ``decode`` is the loop over the tokens, ``beam_search`` follows several texts at
once, ``speculative`` lets a smaller model draft.
Uses ``models``.
"""
