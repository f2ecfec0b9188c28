"""Model directories in and out, exchangeable with Hugging Face transformers."""
