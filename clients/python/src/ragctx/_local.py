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
# ends. Then it ends the server, and removes the data directory if it has made one.
SUPERVISOR = """
import subprocess, sys, tempfile, threading
def serve(data):
    server = subprocess.Popen([sys.argv[1], "serve", *data, *sys.argv[3:]], stdin=subprocess.DEVNULL)
    def end():
        sys.stdin.read()
        server.terminate()
    threading.Thread(target=end, daemon=True).start()
    return server.wait()
if sys.argv[2] == "given":
    sys.exit(serve([]))
with tempfile.TemporaryDirectory(prefix="ragctx-", ignore_cleanup_errors=True) as data:
    code = serve(["--data", data])
sys.exit(code)
"""


class Server:
    """A ragctx server on a free port. It ends with the program, even if the program is killed."""

    def __init__(self, data: str | os.PathLike[str] | None, binary: str | None, arguments: Sequence[str]) -> None:
        self._data = os.fspath(data) if data is not None else None
        self._binary = binary or os.environ.get("RAGCTX_BINARY") or "ragctx"
        self._arguments = arguments
        self._process: subprocess.Popen[str] | None = None

    def start(self) -> str:
        """Start the server, wait until it is ready, and return its URL."""
        binary = shutil.which(self._binary)
        if binary is None:
            raise StartFailed(f"no program {self._binary}: install ragctx, or name it with binary= or RAGCTX_BINARY")
        data = ["temporary"] if self._data is None else ["given", "--data", self._data]
        with tempfile.TemporaryFile() as errors:
            self._process = subprocess.Popen(
                [sys.executable, "-c", SUPERVISOR, binary, *data, "--addr", "127.0.0.1:0", *self._arguments],
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
        """End the server, and wait until it has ended and a temporary data directory is removed."""
        if self._process is not None:
            assert self._process.stdin is not None
            self._process.stdin.close()
            self._process.wait()
            self._process = None
