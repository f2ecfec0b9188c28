"""Fine-tuning: a pre-trained encoder, one additional layer, a task (paper, section 3.2)."""
