"""Corpora: documents from files, cut into sentences and pieces, in memory-mapped shards."""
