"""Attention: scores, masks, positions, heads, and the key/value cache.

In reading order: ``dot_product`` implements dot-product attention, and ``additive`` implements attention in its
original form. ``masks`` determine which keys a query may attend to, and ``positions`` encode the order of the keys.
``kv_cache`` stores keys and values so that they are computed only once. ``multi_head`` runs several heads in parallel,
and ``grouped_query`` shares keys and values among heads. Uses ``checks`` and ``device``.
"""
