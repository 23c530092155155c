"""Complete networks and their configurations.

In reading order: ``initialization`` and ``layer_stack`` are shared code; ``encoder`` and ``decoder`` are the two halves
of ``transformer``, which ``transformer_config`` configures; ``language_model`` and ``language_model_config`` define
decoder-only models; and ``recurrent`` contains the recurrent networks before the Transformer. Uses ``attention`` and
``layers``.
"""
