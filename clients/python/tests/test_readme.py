"""Every program of the README prints the text that follows it. tools/clients/run.sh puts them into programs/."""

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAMS = sorted((Path(__file__).parents[1] / "programs").glob("*.py"))
assert PROGRAMS


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.stem)
def test_program(program: Path, tmp_path: Path) -> None:
    run = subprocess.run([sys.executable, program], capture_output=True, text=True, cwd=tmp_path, timeout=120)
    assert run.returncode == 0, run.stderr
    assert run.stdout == program.with_suffix(".txt").read_text()
