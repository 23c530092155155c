"""The layers that models are stacked from.

In reading order: ``embedding`` looks up token embeddings; ``feed_forward`` is applied at each position separately, and
``mixture_of_experts`` chooses a few of many such networks; ``norms`` normalize; ``encoder_layer`` and ``decoder_layer``
combine these with attention. ``lora`` adds small trainable matrices to a model for fine-tuning. Uses ``attention``.
"""
