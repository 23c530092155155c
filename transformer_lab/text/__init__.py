"""Text in, text out.

In reading order: ``translator`` translates texts, ``marian_translator`` with a published model; ``streaming`` turns
tokens into text as they are generated, ``text_generator`` continues a text; ``publish`` saves either with a card, or
pushes it to the hub. Uses ``generation``, ``pretrained`` and
``data``.
"""
