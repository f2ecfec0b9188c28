"""A task: read, encode, decide, score, write. GLUE, SQuAD, SWAG, entities, and the user's own."""
