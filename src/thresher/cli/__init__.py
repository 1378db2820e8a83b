"""The command line: it parses, calls and renders. Commands import what they need when they run."""

try:
    from thresher.cli.main import main
except KeyboardInterrupt:  # Ctrl-C while the program was still being read: nothing has begun
    raise SystemExit(130) from None

__all__ = ["main"]
