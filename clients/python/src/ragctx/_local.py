"""A server of one's own beside a program."""

from __future__ import annotations

import collections
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence

from .errors import StartFailed

# The supervisor is a process between the program and the server. Its standard input closes when the program ends, however it
# ends. Then it ends the server.
SUPERVISOR = """
import subprocess, sys, threading
server = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL)
def end():
    sys.stdin.read()
    server.terminate()
threading.Thread(target=end, daemon=True).start()
sys.exit(server.wait())
"""


class Server:
    """A ragctx server on a free port. It ends with the program, even if the program is killed."""

    def __init__(self, data: str | os.PathLike[str] | None, binary: str | None, arguments: Sequence[str]) -> None:
        self._data = os.fspath(data) if data is not None else None
        self._binary = binary or os.environ.get("RAGCTX_BINARY") or "ragctx"
        self._arguments = arguments
        self._temporary: tempfile.TemporaryDirectory[str] | None = None
        self._process: subprocess.Popen[str] | None = None

    def start(self) -> str:
        """Start the server, wait until it is ready, and return its URL."""
        binary = shutil.which(self._binary)
        if binary is None:
            raise StartFailed(f"no program {self._binary}: install ragctx, or name it with binary= or RAGCTX_BINARY")
        if self._data is None:
            self._temporary = tempfile.TemporaryDirectory(prefix="ragctx-")
        data = self._data or (self._temporary.name if self._temporary else "")
        with tempfile.TemporaryFile() as errors:
            self._process = subprocess.Popen(
                [sys.executable, "-c", SUPERVISOR, binary, "serve", "--addr", "127.0.0.1:0", "--data", data, *self._arguments],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True, start_new_session=True,
            )
            assert self._process.stdout is not None
            for line in self._process.stdout:
                if line.startswith("ragctx serves "):
                    # A thread reads what else the server prints, so that it never waits for a reader.
                    threading.Thread(target=collections.deque, args=(self._process.stdout, 0), daemon=True).start()
                    return line.split()[2]
            errors.seek(0)
            said = errors.read().decode(errors="replace").strip()
        self.stop()
        raise StartFailed(f"{binary} serve ended: {said}")

    def stop(self) -> None:
        """End the server, wait for its end, and remove a temporary data directory."""
        if self._process is not None:
            assert self._process.stdin is not None
            self._process.stdin.close()
            self._process.wait()
            self._process = None
        if self._temporary is not None:
            self._temporary.cleanup()
            self._temporary = None
