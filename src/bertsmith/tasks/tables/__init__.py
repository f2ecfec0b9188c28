"""Users' own tables: TSV, CSV, JSON Lines, Parquet -> rows -> the parts of a task.

``decode`` bytes to text; ``read`` a file to rows; ``quoted`` CSV's quoting; ``objects`` JSON;
``folder`` which file is which part; ``split`` dev where there is none; ``load`` all of it;
``write`` predictions.
"""
