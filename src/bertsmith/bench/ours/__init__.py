"""The sides that are bertsmith."""
