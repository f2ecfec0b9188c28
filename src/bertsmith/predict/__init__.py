"""Predictions of a pre-trained model: filling in blanks."""
