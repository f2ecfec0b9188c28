"""The whole job on text that the machine already has."""
