"""Published checkpoints, in and out.

In reading order: ``hub`` finds the files, ``config_json`` reads the options, ``tensor_layout`` says how parameters
are converted, ``gpt2``, ``llama`` and ``marian`` are the layouts, ``text_tokenizer`` and ``marian_tokenizer`` cut
text, ``load`` makes the models. Uses ``models``.
"""
