"""The examples of the README."""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import sys

import live
import pytest

README = pathlib.Path(__file__).parents[1] / "README.md"
EXAMPLES = re.findall(r"^```python\n(.*?)^```", README.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def run(example: str, service: live.Service) -> str:
    """Runs an example with what a reader has set, and returns what it prints."""
    ran = subprocess.run(
        [sys.executable, "-c", example],
        env={**os.environ, **service.environment, "PYTHONPATH": str(README.parent / "src")},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_the_first_ten_lines(service: live.Service) -> None:
    assert len(EXAMPLES[0].splitlines()) <= 10
    assert "HMAC-SHA256" in run(EXAMPLES[0], service)


@pytest.mark.parametrize("number", range(1, len(EXAMPLES)))
def test_the_other_examples_are_python(number: int, service: live.Service) -> None:
    compile(EXAMPLES[number], f"README.md, example {number}", "exec", dont_inherit=True)
    if "# runs" in EXAMPLES[number]:
        assert run(EXAMPLES[number], service)
