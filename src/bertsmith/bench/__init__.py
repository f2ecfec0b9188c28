"""Speed and memory beside other tools, and beside the limit of the machine."""
