"""Training: optimizers, schedules, the loop, state on disk, the metrics log."""
