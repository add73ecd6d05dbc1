"""Every program of the README prints the text that follows it."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

README = (Path(__file__).parents[1] / "README.md").read_text()
PROGRAMS = re.findall(r"```python\n(.*?)```\n(?:\n```text\n(.*?)```\n)?", README, re.DOTALL)


@pytest.mark.parametrize(("program", "printed"), PROGRAMS, ids=range(1, len(PROGRAMS) + 1))
def test_program(program: str, printed: str, tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(program)
    run = subprocess.run([sys.executable, file], capture_output=True, text=True, cwd=tmp_path, timeout=120)
    assert run.returncode == 0, run.stderr
    assert run.stdout == printed
