"""The layers that models are stacked from.

In reading order: ``embedding`` looks tokens up; ``feed_forward`` works at each position by itself, and
``mixture_of_experts`` picks a few of many such networks; ``norms`` normalize; ``encoder_layer`` and ``decoder_layer``
combine both with attention. ``lora`` puts other layers into a finished model, to fine-tune it. Uses ``attention``.
"""
