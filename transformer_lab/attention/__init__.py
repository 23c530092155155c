"""Who looks at whom.

In reading order: ``dot_product`` is the thing itself; ``additive`` is how it was first done; ``masks`` say which keys
a query may see, and ``positions`` where each stands; ``kv_cache`` is what need not be computed twice; ``multi_head``
puts several attentions side by side, and ``grouped_query`` does it with fewer keys. Uses ``checks`` only.
"""
