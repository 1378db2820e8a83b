from tests.apps.queries.outputs.office import office
from tests.harness.databases import file_and_server as pytest_generate_tests

__all__ = ["office", "pytest_generate_tests"]
