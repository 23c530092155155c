"""What is stacked.

In reading order: ``feed_forward`` works at each position by itself, ``norms`` keep numbers at one size,
``encoder_layer`` and ``decoder_layer`` combine both with attention. Uses ``attention``.
"""
