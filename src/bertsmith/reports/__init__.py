"""Reports about runs."""
