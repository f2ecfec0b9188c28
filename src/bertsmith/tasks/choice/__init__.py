"""Multiple choice: one context, several endings or answers, one of them right (paper, 4.4)."""
