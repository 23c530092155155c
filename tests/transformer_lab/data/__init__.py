"""Tests for the data package: dates, corpora, tokenizers, token stores and batches."""
