"""Text to token ids: WordPiece vocabularies, encoding with offsets, sentences."""
