"""One practice web for all tests of a module; each finds it as new. Apps meet a database through the
store."""

from tests.harness.databases import file_and_server
from tests.harness.web import shared_web, web

__all__ = ["shared_web", "web"]

pytest_generate_tests = file_and_server
