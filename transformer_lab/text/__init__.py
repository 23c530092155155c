"""Models that take and return text.

In reading order: ``translator`` translates texts, and ``marian_translator`` does so with a published model;
``streaming`` converts tokens into text as they are generated; ``text_generator`` continues texts. Uses ``generation``,
``pretrained`` and ``data``.
"""
