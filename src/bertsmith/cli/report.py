"""One self-contained HTML file about a run: curves, figures beside baselines, settings.

bertsmith pretrain writes it at its end; this verb makes it again, also while a run is under way.
"""

from __future__ import annotations

import argparse
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``bertsmith report``."""
    parser.add_argument("run_folder", type=Path, metavar="RUN", help="run folder")


def run(arguments: argparse.Namespace) -> int:
    """Write the report and say where it is."""
    from bertsmith.reports.html import write_report

    print(write_report(arguments.run_folder))
    return 0
