"""Complete networks and their configurations.

In reading order: ``initialization`` and ``layer_stack`` are shared code; ``encoder`` and ``decoder`` are the two halves
of ``transformer``, which is configured by ``transformer_config``; ``language_model`` and ``language_model_config``
define decoder-only models; ``recurrent`` has the recurrent networks that came before the Transformer. Uses
``attention`` and ``layers``.
"""
