"""Text in, text out.

``translator`` translates, ``marian_translator`` does with a published model; ``text_generator`` continues a text, and
``streaming`` shows it while it grows. Uses ``generation``, ``pretrained`` and ``data``.
"""
