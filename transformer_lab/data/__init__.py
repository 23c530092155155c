"""Corpora, tokenizers and batches.

In reading order: ``corpus`` reads parallel text, ``dates`` generates it, ``docstrings`` finds English on every machine,
``tokenizers`` splits text into tokens, ``token_store`` keeps them in a file, ``prepare`` combines these steps,
``batches`` forms batches. Uses no other room.
"""
