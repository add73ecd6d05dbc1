"""A real server for the tests, and a model server. RAGCTX_BINARY names the program."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from ragctx import Ragctx

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="session")
def server() -> Iterator[Ragctx]:
    """A server for all tests; each test has a namespace of its own."""
    with Ragctx.local() as ragctx:
        yield ragctx


@pytest.fixture
def ragctx(server: Ragctx, request: pytest.FixtureRequest) -> Ragctx:
    """A client in a namespace of the test's own."""
    return server.with_options(namespace=request.node.name.replace("_", "-").replace("[", "-").strip("]").lower()[:60])


@pytest.fixture(scope="session", autouse=True)
def model() -> Iterator[str]:
    """The URL of a model server, which the clients of OpenAI and Anthropic read from the environment."""
    with subprocess.Popen([sys.executable, ROOT / "tools/clients/model.py"], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        os.environ.update(
            OPENAI_BASE_URL=f"{url}/v1", OPENAI_API_KEY="test", ANTHROPIC_BASE_URL=url, ANTHROPIC_API_KEY="test", NO_PROXY="*", no_proxy="*"
        )
        yield url
        process.terminate()
