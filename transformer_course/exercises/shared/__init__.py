"""Pieces that several exercises share."""
