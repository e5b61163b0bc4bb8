"""The package as others install it."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import sys

import live
import pytest

ROOT = pathlib.Path(__file__).parents[1]
PROGRAM = """
import parlance, parlance.v1, parlance.webhooks
assert parlance.__file__.startswith({where!r}), parlance.__file__
with parlance.Client() as client:
    agent = client.agents.get_agent(workspace_id={workspace_id!r}, agent_id={agent_id!r})
print(agent.name)
"""
TYPED = """
import parlance
from parlance.v1 import Agent

client = parlance.Client()
agent: Agent = client.agents.create_agent(workspace_id="ws_1", name="Ada", model={"temperature": 0.5})
names: list[str] = [one.name for one in client.agents.all_agents(workspace_id="ws_1")]
"""
WRONG = """
import parlance

client = parlance.Client()
client.agents.create_agent(workspace_id=7)
client.agents.create_agent(nome="Ada")
client.knowledge.upload(b"", workspace_id="ws_1", tags="faq")
print(client.agents.get_agent().nome)
for one in client.agents.all_agents():
    one.id.missing()
"""


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """The Python of an environment that has the package, built and installed without a network."""
    folder = tmp_path_factory.mktemp("package")
    source = folder / "source"
    ignored = shutil.ignore_patterns("tests", "__pycache__", "build", "*.egg-info", ".*")
    shutil.copytree(ROOT, source, ignore=ignored)
    subprocess.run([sys.executable, "-m", "venv", "--system-site-packages", folder / "env"], check=True)
    inside = folder / "env/bin/python"
    install = [str(inside), "-m", "pip", "install", "--no-deps", "--no-build-isolation", "--no-index", "--quiet", str(source)]
    installed = subprocess.run(install, capture_output=True, text=True)
    assert installed.returncode == 0, installed.stderr
    shutil.rmtree(source)
    return inside


def run(python: pathlib.Path, *arguments: str, **variables: str) -> "subprocess.CompletedProcess[str]":
    """Runs Python away from the sources."""
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "MYPYPATH")}
    return subprocess.run(
        [python, *arguments], env={**environment, **variables}, cwd=python.parent, capture_output=True, text=True
    )


def test_the_installed_package_works(python: pathlib.Path, service: live.Service) -> None:
    where = str(python.parents[1])
    program = PROGRAM.format(where=where, workspace_id=service.workspace_id, agent_id=service.agent_id)
    ran = run(python, "-c", program, **service.environment)
    assert ran.stdout.strip() == "Ada", ran.stderr
    shown = run(python, "-m", "pip", "show", "--files", "parlance").stdout
    for file in ("parlance/py.typed", "parlance/v1/agents_pb2.py", "parlance/v1/agents_pb2.pyi", "parlance/_services/agents.py"):
        assert file in shown
    assert "License: Apache-2.0" in shown and "tests" not in shown


def test_the_installed_package_is_typed(python: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """Checked as a program of somebody else, with the types of protobuf that a package index has."""

    def check(program: str) -> "subprocess.CompletedProcess[str]":
        path = tmp_path / "program.py"
        path.write_text(program, encoding="utf-8")
        executable = ["--python-executable", str(python), "--cache-dir", str(tmp_path / "cache")]
        return run(python, "-m", "mypy", "--strict", *executable, str(path), MYPYPATH=str(ROOT / "stubs"))

    right = check(TYPED)
    assert right.returncode == 0, right.stdout
    wrong = check(WRONG).stdout
    assert [f"program.py:{line}: error" in wrong for line in (5, 6, 7, 8, 10)] == 5 * [True], wrong
