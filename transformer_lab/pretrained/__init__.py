"""Load published checkpoints, and save models in published formats.

In reading order: ``hub`` downloads and reads the files; ``config_json`` and ``rotary_options`` read the options;
``tensor_layout`` converts tensors; ``gpt2``, ``llama`` (with code shared with related models in ``llama_layout``) and
``marian`` are the layouts; ``text_tokenizer`` and ``marian_tokenizer`` are the tokenizers; ``load`` builds ``models``.
"""
