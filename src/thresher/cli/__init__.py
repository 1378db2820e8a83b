"""The command line: it parses, calls and renders. Commands import what they need when they run."""

from thresher.cli.main import main

__all__ = ["main"]
