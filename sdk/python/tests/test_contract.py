"""A client that was generated from the contract of the version before works with today's service."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

import live
import pytest

PROTO = pathlib.Path(__file__).parents[3] / "proto"


def released() -> "list[pathlib.Path]":
    """The contracts of the released versions, oldest first."""
    found = (PROTO / "released").glob("*.binpb")
    return sorted(found, key=lambda path: [int(part) for part in path.stem.split(".")])


def test_the_contract_of_the_version_before(service: live.Service, tmp_path: pathlib.Path) -> None:
    newest = released()[-1]
    names = [f"parlance/v1/{path.name}" for path in (PROTO / "parlance/v1").glob("*.proto")]
    imports = ["buf/validate/validate.proto", "google/api/annotations.proto", "google/api/http.proto"]
    for name in [*names, *imports]:
        command = ["protoc", f"--descriptor_set_in={newest}", f"--python_out={tmp_path}", name]
        made = subprocess.run(command, capture_output=True, text=True)
        if made.returncode and not (name in names and "Could not find file" in made.stderr):  # it is newer
            pytest.fail(made.stderr)
    assert (tmp_path / "parlance/v1/sessions_pb2.py").is_file()
    script = pathlib.Path(__file__).with_name("old_client.py")
    run = subprocess.run(
        [sys.executable, str(script)],
        env={**os.environ, **service.environment, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    assert str(tmp_path) in run.stdout  # it was the old one
