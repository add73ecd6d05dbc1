"""Trains the table, and writes it as ragctx reads it.

    train.py DATA MODEL OUT.bin [--dimensions 256] [--untrained mean|sif]

DATA is the folder that prepare.py filled. In two parts: first questions must find
their passages among 4,096 (InfoNCE, van den Oord et al. 2018), over all passages;
then every other step also brings the vectors of the passages that the teacher has
seen near the teacher's, and their cosines near the teacher's (Hinton et al.,
"Distilling the Knowledge in a Neural Network", 2015).
"""

import argparse, math, random, re, time

import numpy as np
import torch
import torch.nn.functional as F

from model import TOKENS, Bags, embed, tokenizer
from table import quantise, write_table

BATCH = 4096
EXPONENT = 0.7    # of a token's count; chosen on figures, README.md
DROP = 0.1        # share of tokens left out of a text in training
TEACHER_T = 0.05  # temperature of the teacher's cosines
CERTAIN = 0.3     # how much of the target is the question's own passage


class Data:
    def __init__(self, folder):
        z = np.load(folder + "/tokens.npz")
        self.bags = {k: Bags(z[k].astype(np.int32), z[k + "o"]) for k in "pts"}
        self.n = len(z["po"]) - 1
        frequency = np.bincount(z["p"], minlength=TOKENS) + 0.5
        self.share = torch.from_numpy(frequency / frequency.sum()).float()
        said = np.load(folder + "/teacher.npz")
        self.teacher = {k: torch.from_numpy(said[k]).float() for k in "pts"}
        self.taught = len(self.teacher["p"])
        self.single = torch.from_numpy(np.load(folder + "/tokens.npy")).float()

    def basis(self, dimensions):
        """The directions in which the teacher's vectors say most."""
        t = self.teacher
        _, v = torch.linalg.eigh(t["p"].T @ t["p"] + t["t"].T @ t["t"])
        return v[:, -dimensions:].flip(1)


def contrast(scores, target=None):
    """Cross entropy of both directions; the target is the diagonal if not given."""
    if target is None:
        own = torch.arange(len(scores))
        return (F.cross_entropy(scores, own) + F.cross_entropy(scores.T, own)) / 2
    loss = 0
    for t, s in ((target, scores), (target.T, scores.T)):
        t = F.softmax(t, 1) * (1 - CERTAIN)
        t.diagonal().add_(CERTAIN)
        loss = loss - (t * F.log_softmax(s, 1)).sum(1).mean() / 2
    return loss


def products(a, b):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        return (a @ b.T).float()


def draw(n):
    """Yields batches of the numbers below n, for ever."""
    while True:
        order = torch.randperm(n)
        yield from (order[i : i + BATCH] for i in range(0, n - BATCH + 1, BATCH))


def train(data, table, basis, steps, rate, warm, taught):
    table = torch.nn.Parameter(table.clone())
    sharpness = torch.nn.Parameter(torch.tensor(math.log(20.0)))
    adam = torch.optim.Adam([{"params": [table]}, {"params": [sharpness], "lr": 1e-3}], betas=(0.9, 0.98))
    every, some, mean, began = draw(data.n), draw(data.taught), 0.0, time.time()
    for step in range(steps):
        adam.param_groups[0]["lr"] = rate * min(1, (step + 1) / warm) * (0.02 + 0.49 * (1 + math.cos(math.pi * step / steps)))
        teach = taught and step % 2 == 0
        texts, view = next(some if teach else every), random.choice("tts")
        p, q = (embed(table, data.bags[k], texts, EXPONENT, DROP) for k in ("p", view))
        scores = products(q, p) * sharpness.exp()
        if teach:
            tp, tq = data.teacher["p"][texts], data.teacher[view][texts]
            near = sum((v * F.normalize(t @ basis, dim=1)).sum(1).mean() for v, t in ((p, tp), (q, tq)))
            loss = 2 - near + contrast(scores, products(tq, tp) / TEACHER_T)
        else:
            loss = contrast(scores)
        adam.zero_grad(set_to_none=True)
        loss.backward()
        adam.step()
        mean = loss.item() if step == 0 else 0.95 * mean + 0.05 * loss.item()
        if step % 20 == 19:
            print(f"step {step + 1} of {steps}: loss {mean:.3f}, {time.time() - began:.0f} s", flush=True)
    return table.detach()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("data")
    p.add_argument("model")
    p.add_argument("out")
    p.add_argument("--dimensions", type=int, default=256)
    p.add_argument("--revision", default="1")
    p.add_argument("--untrained", choices=("mean", "sif"), help="no training: all weights 1, or SIF")
    a = p.parse_args()
    torch.manual_seed(1)
    random.seed(1)
    data = Data(a.data)
    vocabulary = [t for t, _ in sorted(tokenizer(a.model).get_vocab().items(), key=lambda x: x[1])]
    # Rows only for what the training text has: Latin words, their parts, numbers.
    has_row = torch.tensor([bool(re.fullmatch(r"(##)?[a-z0-9]+", t)) for t in vocabulary])
    basis = data.basis(a.dimensions)
    weight = 3e-4 / (1e-4 + data.share)  # SIF (Arora et al. 2017), the weights to begin with
    table = data.single @ basis * (weight * has_row)[:, None]
    if a.untrained == "mean":
        table = data.single @ basis * has_row[:, None]
    elif a.untrained is None:
        table = train(data, table, basis, steps=260, rate=4e-3, warm=20, taught=False)
        table = train(data, table * has_row[:, None], basis, steps=120, rate=2e-3, warm=5, taught=True)
    export(a.out, table, vocabulary, has_row, a)


def export(path, table, vocabulary, has_row, a):
    scales, rows = quantise(table[has_row].numpy())
    numbers = torch.where(has_row, has_row.cumsum(0), 0)
    header = {
        "name": "ragctx-static-en", "revision": a.revision, "dimensions": a.dimensions, "exponent": EXPONENT, "lowercase": True,
        "noise_floor": 0.35, "min_coverage": 0.5,
        "license": "Apache-2.0", "source": "trained from openly licensed documentation, taught by all-MiniLM-L6-v2 (Apache-2.0)",
    }
    write_table(path, header, vocabulary, numbers.numpy().astype(np.uint16), scales, rows)


if __name__ == "__main__":
    main()
