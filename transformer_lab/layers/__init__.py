"""The layers that models are stacked from.

In reading order: ``feed_forward`` works at each position by itself, ``norms`` normalise,
``encoder_layer`` and ``decoder_layer`` combine both with attention. Uses ``attention``.
"""
