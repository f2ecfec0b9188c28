"""What a model or a corpus is, and what is wrong with it: facts, and findings by grade."""
