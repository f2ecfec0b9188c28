"""What every room uses: errors, settings, files, the console."""
