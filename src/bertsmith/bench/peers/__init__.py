"""The sides that are other tools, as their own pages show them in use.

Each module imports its tool when a side is set up, so that one that is not installed is named in
the table. None imports more of bertsmith than it needs: memory is compared, too.
"""
