"""Models that were trained for longer than a lesson can wait, for the learner's own classes.

``stored_model`` loads them. Each has a folder: ``model.safetensors``, in half precision; ``tokenizer.json``; and
``card.json``, which says by which command it was trained, on which texts, for how long and how well. Uses the model
library's ``data`` and ``tensor_files``. A lesson needs this much::

    from transformer_course.stored_models.stored_model import trained

    stored = trained("gpt-docstrings")
    gpt = stored.load_into(parts.GPT(**stored.sizes))  # the learner's own class, of lesson 09
    stored.tokenizer, stored.card  # how it reads, and how it was trained

``gpt-docstrings`` writes like Python's documentation, ``gpt-plays`` like Shakespeare; ``messages-en-fr`` translates the
messages of a program for smart homes, and is for the ``Transformer`` of lesson 08. ``llama-plays`` writes plays, too,
and is stored as models are published, with ``config.json`` and under the names of the hub: lesson 11 loads it so.
"""
