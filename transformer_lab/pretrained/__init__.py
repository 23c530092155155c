"""Published checkpoints, in and out.

In reading order: ``hub`` downloads and reads the files, ``config_json`` and ``rotary_options`` read the options,
``tensor_layout`` converts tensors; ``gpt2``, ``llama`` (with what its relatives share in ``llama_layout``) and
``marian`` are the layouts, ``text_tokenizer`` and ``marian_tokenizer`` the tokenizers, and ``load`` makes the models.
Uses ``models``.
"""
