"""BERT on packed batches: configuration, attention, encoder and pre-training heads."""
