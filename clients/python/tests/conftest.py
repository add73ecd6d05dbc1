"""A real server for the tests. tools/clients/run.sh sets the environment: the program, and a model server."""

from collections.abc import Iterator

import pytest
from ragctx import Ragctx


@pytest.fixture(scope="session")
def server() -> Iterator[Ragctx]:
    """A server for all tests; each test has a namespace of its own."""
    with Ragctx.local() as ragctx:
        yield ragctx


@pytest.fixture
def ragctx(server: Ragctx, request: pytest.FixtureRequest) -> Ragctx:
    """A client in a namespace of the test's own."""
    return server.with_options(namespace=f"{request.module.__name__}-{request.node.name}".replace("_", "-").lower())
