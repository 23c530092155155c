"""Published models that are too large for the repository: downloaded once, and shared by all clones.

In reading order: ``catalog`` lists the models with their sizes, checksums and licenses; ``model_cache`` is the folder
that they are kept in; ``package_index`` and the Hugging Face Hub are where they come from; ``gguf_folder`` converts a
GGUF file into a folder as the Hub has them; ``published`` does all of it. In a lesson, ``in_lesson``
shows stored outputs where there is no model. Uses the model library's ``pretrained``. Elsewhere, you
need this much::

    from transformer_course.published_models.published import published

    folder = published("smollm2")  # an OSError says why there is no model, for instance without a network
    chat = TextGenerator.load(folder)
    options, tensors = read_json(folder / "config.json"), read_model_tensors(folder)  # for classes of your own
"""
