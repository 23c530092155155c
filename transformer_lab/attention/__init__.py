"""Attention: scores, masks, positions, heads, and the key/value cache.

In reading order: ``dot_product`` is attention itself; ``additive`` is how it was first done; ``masks`` say which keys a
query may attend to, and ``positions`` where each is; ``kv_cache`` holds what need not be computed twice; ``multi_head``
puts several attentions side by side, and ``grouped_query`` does it with fewer keys. Uses ``checks`` and ``device``.
"""
