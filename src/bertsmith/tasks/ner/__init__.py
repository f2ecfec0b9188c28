"""Named entities, and any other tag a word: CoNLL files -> tags.

``folder`` which file is which part; ``conll`` a file to sentences; ``schemes`` what tags say;
``load`` all of it; ``windows`` which words a sequence holds; ``encode`` words to features;
``metrics`` entities found; ``write`` predictions as a file; ``task`` the task.
"""
