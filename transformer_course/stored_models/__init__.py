"""Stored models that would take too long to train in a lesson. Learners load them into their own classes.

``stored_model`` loads the models. The folder of each model contains ``model.safetensors`` in half precision,
``tokenizer.json``, and ``card.json`` with the training command, texts, time and results. Uses the model library's
``data`` and ``tensor_files``. Example::

    from transformer_course.stored_models.stored_model import trained

    stored = trained("gpt-docstrings")
    gpt = stored.load_into(parts.GPT(**stored.sizes))  # the learner's own class from lesson 09
    stored.tokenizer, stored.card  # the tokenizer, and the description of the training

``gpt-docstrings`` writes like Python's documentation and ``gpt-plays`` like Shakespeare, both for lesson 09.
``messages-en-fr`` translates messages of a home automation program, for the ``Transformer`` of lesson 08.
``llama-plays`` also writes plays. It is stored like a published model, with ``config.json`` and the Hub's names, for
lesson 11.
"""
