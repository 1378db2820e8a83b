"""One practice web for all tests of a module; each finds it as new."""

from tests.harness.web import shared_web, web

__all__ = ["shared_web", "web"]
