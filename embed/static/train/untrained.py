"""Makes a table without training: the teacher's own token embeddings, reduced
to 256 components and weighted by how rare a token is (its place in the
vocabulary, which is sorted by frequency, stands for that).

    python untrained.py MODEL_DIR model.bin

What a trained table is compared with.
"""

import json
import os
import sys

import numpy as np

from table import quantise, write_table


def read_tensor(path, name):
    """Returns a float32 tensor of a safetensors file."""
    with open(path, "rb") as f:
        head = json.loads(f.read(int.from_bytes(f.read(8), "little")))
        start = f.tell()
        info = head[name]
        f.seek(start + info["data_offsets"][0])
        data = f.read(info["data_offsets"][1] - info["data_offsets"][0])
    return np.frombuffer(data, dtype={"F32": "<f4", "F16": "<f2"}[info["dtype"]]).reshape(info["shape"]).astype(np.float32)


def plain(token):
    """Whether a token is of letters, digits and marks that English texts have."""
    return not (token.startswith("[") and len(token) > 1) and token.isascii()


def main(model, out):
    with open(os.path.join(model, "vocab.txt"), encoding="utf-8") as f:
        vocab = f.read().rstrip("\n").split("\n")
    vectors = read_tensor(os.path.join(model, "model.safetensors"), "embeddings.word_embeddings.weight")
    keep = np.array([plain(t) for t in vocab])
    vectors = vectors[keep]
    vectors -= vectors.mean(axis=0)
    _, _, axes = np.linalg.svd(vectors, full_matrices=False)
    vectors = vectors @ axes[:256].T
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    # Zipf: the probability of the token at place k is about 1/(k·ln V). The
    # vocabulary begins with characters, which are as common as the commonest.
    place = np.maximum(np.flatnonzero(keep) - 1996, 1)
    vectors *= (1e-3 / (1e-3 + 1 / (place * np.log(len(vocab)))))[:, None]
    scales, rows = quantise(vectors)
    write_table(out, {
        "name": "ragctx-static-en",
        "revision": "0",
        "exponent": 0.5,
        "noise_floor": 0.2,
        "license": "Apache-2.0",
        "source": "token embeddings of sentence-transformers/all-MiniLM-L6-v2, untrained",
    }, vocab, np.where(keep, np.cumsum(keep), 0), [], scales, rows)


if __name__ == "__main__":
    main(*sys.argv[1:])
