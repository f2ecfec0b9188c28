"""The GLUE tasks (Wang et al. 2018, arXiv 1804.07461) in their official TSV files."""
