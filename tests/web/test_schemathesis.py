"""The OpenAPI document in the hands of a tool that nobody here wrote: every operation, with what fits its
schema and what does not."""

from itertools import product

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.web.conftest import ALL_ROUTES, ALL_SCOPES, APPS, Api, project, served
from thresher.admin.keys import create_key

EXAMPLES = 1  # of each operation and kind of data; `make fuzz` takes many more
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
MODES = (schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE)


@pytest.mark.promise(17)
def test_no_operation_of_the_document_ends_in_an_error_of_the_server(tmp_path):
    with project(tmp_path) as shop, served(shop) as url:
        token = create_key(shop.store, "stranger", ALL_SCOPES, apps=APPS, rate=1_000_000).token
        headers = {"Authorization": f"Bearer {token}"}
        document = schemathesis.openapi.from_url(f"{url}/api/openapi.json", headers=headers)
        operations = [each.ok() for each in document.get_all_operations()]
        assert len(operations) == len(ALL_ROUTES) - 1, "all but the document itself"
        for operation, mode in product(operations, MODES):
            attack(operation, mode, headers)
        assert Api(url, token).get("/api/health") == {"status": "ok"}


def attack(operation, mode, headers):
    many = max(EXAMPLES, settings().max_examples // 50)

    @settings(
        max_examples=many,
        suppress_health_check=list(HealthCheck),
        derandomize=settings().derandomize,
        database=None,
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def send(case):
        case.call_and_validate(headers=headers, checks=CHECKS)

    send()
