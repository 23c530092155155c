"""Corpora, tokenizers and batches.

In reading order: ``corpus`` reads parallel text, ``dates`` makes some, ``tokenizers`` cut text into tokens,
``token_store`` holds them, ``prepare`` does all of that once, ``batches`` serves them. Uses no other room.
"""
