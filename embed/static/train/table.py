"""Writes the file that package static reads: a table of int8 rows for tokens.

The layout, all numbers little endian:

    0   8 bytes  "RCSTATIC"
    8   uint32   version of the format, 1
    12  uint32   length of the header
    16           header: JSON, padded with spaces
                 vocabulary   tokens joined by line feeds, UTF-8
                 row_numbers  uint16 per token: 0 has no row, n has row n-1
                 scales       float32 per row
                 rows         int8, row by row
    -32          SHA-256 of everything before

Each section begins at the next multiple of 16 bytes; what lies between is zero.
The checksum follows the rows at once.
"""

import hashlib
import json
import os

import numpy as np

MAGIC = b"RCSTATIC"
VERSION = 1
ALIGN = 16
SECTIONS = ("vocabulary", "row_numbers", "scales", "rows")
DEFAULTS = {
    "name": "ragctx-static-en",
    "revision": "1",
    "exponent": 0.5,
    "noise_floor": 0.2,
    "min_coverage": 0.5,
    "lowercase": True,
    "license": "",
    "source": "",
}


def _aligned(n):
    return (n + ALIGN - 1) // ALIGN * ALIGN


def quantise(vectors):
    """Returns (scales, rows) so that scales[:, None] * rows is near vectors."""
    vectors = np.asarray(vectors, dtype=np.float32)
    scales = np.abs(vectors).max(axis=1) / 127
    rows = np.rint(vectors / np.where(scales > 0, scales, 1)[:, None]).astype(np.int8)
    return scales.astype(np.float32), rows


def write_table(path, header, vocab, row_numbers, scales, rows):
    """Writes a table to path.

    header: overrides of DEFAULTS; counts and sections are filled in.
    vocab: all tokens, as strings, in the order of their ids.
    row_numbers: per token, 0 for none or the row's index + 1.
    scales: per row, what its int8 values are multiplied with, weight included.
    rows: (N, dimensions) int8.
    """
    row_numbers = np.asarray(row_numbers, dtype=np.int64)
    scales = np.asarray(scales, dtype="<f4")
    rows = np.asarray(rows)
    _check(vocab, row_numbers, scales, rows)

    body = dict(
        vocabulary="\n".join(vocab).encode("utf-8"),
        row_numbers=row_numbers.astype("<u2").tobytes(),
        scales=scales.tobytes(),
        rows=np.ascontiguousarray(rows).tobytes(),
    )
    head = {**DEFAULTS, **header}
    head.update(dimensions=rows.shape[1], tokens=len(vocab), rows=len(rows))
    _write(path, head, body)


def _check(vocab, row_numbers, scales, rows):
    if len(set(vocab)) != len(vocab) or not 0 < len(vocab) <= 1 << 16:
        raise ValueError("tokens must be distinct, and 65,536 at most")
    if any("\n" in t or not t for t in vocab):
        raise ValueError("a token is empty or has a line feed")
    if row_numbers.shape != (len(vocab),) or row_numbers.min() < 0:
        raise ValueError("row_numbers must have one number per token")
    if rows.ndim != 2 or rows.dtype != np.int8 or rows.shape[1] % 8 or not 8 <= rows.shape[1] <= 4096:
        raise ValueError("rows must be int8, and dimensions a multiple of 8 within 8..4096")
    if row_numbers.max() != len(rows) or len(rows) > 65535:
        raise ValueError("there must be one row per row number, and 65,535 at most")
    if set(row_numbers.tolist()) | {0} != set(range(row_numbers.max() + 1)):
        raise ValueError("a row belongs to no token")
    if scales.shape != (len(rows),) or not np.isfinite(scales).all():
        raise ValueError("scales must have one finite number per row")


def _write(path, head, body):
    length = 0
    while True:  # the header names offsets, which depend on its length
        sections, at = {}, _aligned(16 + length)
        for name in SECTIONS:
            sections[name] = [at, len(body[name])]
            end = at + len(body[name])
            at = _aligned(end)
        text = json.dumps({**head, "sections": sections}, ensure_ascii=False).encode("utf-8")
        if len(text) <= length:
            break
        length = _aligned(len(text))
    data = bytearray(end)
    data[0:8] = MAGIC
    data[8:12] = VERSION.to_bytes(4, "little")
    data[12:16] = length.to_bytes(4, "little")
    data[16:16 + length] = text.ljust(length)
    for name, (offset, size) in sections.items():
        data[offset:offset + size] = body[name]
    with open(path + ".tmp", "wb") as f:
        f.write(data)
        f.write(hashlib.sha256(data).digest())
    os.replace(path + ".tmp", path)
