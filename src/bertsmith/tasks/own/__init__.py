"""Tasks on the user's own tables: classes, several labels, values, tags, answers.

``texts`` reads texts with a target from tables; each other file is one task.
"""
