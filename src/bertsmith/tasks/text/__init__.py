"""What all tasks on whole texts share: a text or a pair of texts -> class, several labels, value.

A task of this kind is a :class:`~bertsmith.tasks.text.task.TextTask` that adds ``read`` and
``write``. Labels are words throughout; numbers of classes exist only between features and head.
"""
