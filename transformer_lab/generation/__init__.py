"""From logits to token ids.

In reading order: ``sampling`` chooses the next token; ``decoding_state`` holds a model and its cache during generation;
``repetition_penalty`` keeps texts from repeating themselves; ``decode`` is the loop over the tokens; ``beam_search``
extends several texts at once; and ``speculative`` uses a draft model. Uses ``models``, and ``fast`` for single tokens.
"""
