"""Models that take too long to train in a lesson, for the learner's own classes.

``stored_model`` loads them. Each has a folder with ``model.safetensors`` in half precision, ``tokenizer.json``, and
``card.json``, which gives the command that trained it, the texts, the time and the results. Uses the model library's
``data`` and ``tensor_files``. Example::

    from transformer_course.stored_models.stored_model import trained

    stored = trained("gpt-docstrings")
    gpt = stored.load_into(parts.GPT(**stored.sizes))  # the learner's own class, of lesson 09
    stored.tokenizer, stored.card  # how it reads, and how it was trained

``gpt-docstrings`` writes like Python's documentation, ``gpt-plays`` like Shakespeare; ``messages-en-fr`` translates the
messages of a program for smart homes, and is for the ``Transformer`` of lesson 08. ``llama-plays`` writes plays, too,
and is stored like a published model, with ``config.json`` and the Hub's names, for lesson 11.
"""
