"""Operators meet a database through the store."""

from tests.harness.databases import file_and_server

pytest_generate_tests = file_and_server
