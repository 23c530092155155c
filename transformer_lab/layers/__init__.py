"""The layers that make up the models.

In reading order: ``embedding`` looks up token embeddings. ``feed_forward`` contains feed-forward networks, and
``mixture_of_experts`` routes each token to a few of them. ``norms`` contains the normalization layers.
``encoder_layer`` and ``decoder_layer`` combine all of these with attention. ``lora`` adds small trainable matrices to a
model for fine-tuning. This package uses ``attention``.
"""
