"""bertsmith: from raw text to a vocabulary, a corpus and a pre-trained BERT."""
