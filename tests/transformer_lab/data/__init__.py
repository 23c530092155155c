"""Tests for the data package, which contains dates, corpora, tokenizers, token stores and batches."""
