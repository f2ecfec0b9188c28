"""One self-contained HTML file about a run: curves, figures beside baselines, settings.

bertsmith pretrain writes it at its end; this verb makes it again, also while a run is under way.
"""

from __future__ import annotations

import argparse

from bertsmith.cli import common


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``bertsmith report``."""
    parser.add_argument("run_folder", type=common.path, metavar="RUN", help="run folder")
    parser.add_argument(
        "--pictures",
        type=common.path,
        metavar="DIR",
        help="also write each curve as an SVG file there",
    )


def run(arguments: argparse.Namespace) -> int:
    """Write the report and say where it is."""
    from bertsmith.reports.html import write_pictures, write_report

    print(write_report(arguments.run_folder))
    if arguments.pictures:
        for path in write_pictures(arguments.run_folder, arguments.pictures):
            print(path)
    return 0
