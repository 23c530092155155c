"""Text in, text out.

In reading order: ``translator`` translates texts, ``marian_translator`` with a published model; ``streaming`` turns
tokens into text as they are generated, ``text_generator`` continues a text. Uses ``generation``, ``pretrained`` and
``data``.
"""
