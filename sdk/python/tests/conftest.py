"""What several tests need."""

from __future__ import annotations

from typing import Any, Callable, Iterator

import live
import parlance
import pytest
from scripted import Reply, Scripted


@pytest.fixture(scope="session")
def service() -> Iterator[live.Service]:
    """A real service."""
    yield from live.start()


@pytest.fixture
def client(service: live.Service) -> Iterator[parlance.Client]:
    """A client of the real service."""
    with parlance.Client(base_url=service.base_url, api_key=service.api_key) as opened:
        yield opened


@pytest.fixture
def proxy(service: live.Service) -> Iterator[live.Proxy]:
    """A connection to the real service that can be cut."""
    made = live.Proxy(service.base_url)
    yield made
    made.close()


@pytest.fixture
def serve() -> Iterator[Callable[..., Scripted]]:
    """Starts servers that answer as a test says."""
    servers: list[Scripted] = []

    def start(*replies: Reply) -> Scripted:
        servers.append(Scripted(*replies))
        return servers[-1]

    yield start
    for one in servers:
        one.close()


@pytest.fixture
def calling() -> Iterator[Callable[..., tuple[parlance.Client, list[float]]]]:
    """Makes clients whose pauses are noted and not waited for."""
    made: list[parlance.Client] = []

    def make(server: Scripted, **options: Any) -> tuple[parlance.Client, list[float]]:
        client = parlance.Client(base_url=server.base_url, api_key="prl_test", **options)
        pauses: list[float] = []
        client._calls.sleep = pauses.append
        made.append(client)
        return client, pauses

    yield make
    for one in made:
        one.close()
