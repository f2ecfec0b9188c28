"""Pre-training: sentence pairs, masking, the objective and the run."""
