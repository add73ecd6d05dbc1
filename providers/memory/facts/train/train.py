"""Trains the weights with which package facts decides what is worth remembering.

    go test ./providers/memory/facts -run TestTrainingUnits -dump units.jsonl
    python providers/memory/facts/train/train.py units.jsonl providers/memory/facts/weights.bin providers/memory/facts/testdata/scores.jsonl

needs Python 3.11, numpy, scipy and scikit-learn (see README.md). With --cv it only
measures, each corpus with weights that were trained on the others.
"""

import argparse
import collections
import json
import struct

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression

KINDS = ["preference", "decision", "instruction", "identity", "relation", "plan", "event", "outcome"]
# Corpora of one language each: what they are measured with has seen three quarters of
# their turns, since there is next to nothing else in that language.
BY_LANGUAGE = "gsfjklm"
EXAMPLES = "examples"
SMALL = "small"  # the turns again, in small letters
# What a unit weighs: less if it is hard on purpose, more if it is chatter, which talk has most of.
WEIGHT = {"u": 0.5, "t": 1.5}
SMALL_SHARE = 0.5  # what a turn in small letters weighs of its own weight


def read(path):
    units, turns = [], {}
    for line in open(path, encoding="utf-8"):
        u = json.loads(line)
        if "features" not in u:
            turns[u["turn"]] = u
            continue
        for key in ("covers", "optional", "rules"):
            u[key] = u[key] or []
        u["right"] = any(c["whole"] for c in u["covers"])
        if u["corpus"] == SMALL:
            u["weight"] = SMALL_SHARE * WEIGHT.get(turns[u["turn"].removesuffix(" small")]["corpus"], 1.0)
        u["small"] = any(c["whole"] for c in u["optional"])
        if "said" in u:
            u["y"], u["ignore"] = int(u["said"]), False
        else:
            u["y"] = int(any(c["whole"] or c["share"] >= 0.5 for c in u["covers"]))
            u["ignore"] = not u["y"] and bool(u["covers"] or u["optional"])
        units.append(u)
    return units, turns


def fnv(name):
    h = 2166136261
    for b in name.encode():
        h = (h ^ b) * 16777619 & 0xFFFFFFFF
    return h


def vocabulary(units, least=2):
    """The features that at least two units have, each once, with their numbers."""
    n = collections.Counter()
    for u in units:
        if u["corpus"] != SMALL:
            n.update(u["features"])
    kept = {fnv(f): f for f in sorted(n) if n[f] >= least}
    return {kept[h]: i for i, h in enumerate(sorted(kept))}


def matrix(units, vocab):
    rows, columns = [], []
    for i, u in enumerate(units):
        for f in u["features"]:
            if f in vocab:
                rows.append(i)
                columns.append(vocab[f])
    return sp.csr_matrix((np.ones(len(rows)), (rows, columns)), shape=(len(units), len(vocab)))


def fit(units, c, examples):
    """The weights of "worth remembering" and of each kind."""
    units = [u for u in units if not u["ignore"] and (examples > 0 or u["corpus"] != EXAMPLES)]
    vocab = vocabulary(units)
    x = matrix(units, vocab)
    y = np.array([u["y"] for u in units])
    weight = np.array([examples if u["corpus"] == EXAMPLES else u.get("weight") or WEIGHT.get(u["corpus"], 1.0) for u in units])
    keep = LogisticRegression(C=c, max_iter=500, solver="liblinear", random_state=1).fit(x, y, sample_weight=weight)
    rows, kinds, weight = [], [], []
    for i, u in enumerate(units):
        found = [(k["kind"], k["share"], 1.0) for k in u["covers"] if k["kind"] and (k["whole"] or k["share"] >= 0.5)]
        if u["corpus"] == EXAMPLES and u["y"]:
            found = [(f["kind"], 1, examples) for f in u["rules"]]
        for kind, _, w in found:
            rows.append(i)
            kinds.append(KINDS.index(kind))
            weight.append(w / len(found))
    kinds = np.array(kinds)
    kind = np.zeros((len(KINDS), len(vocab)))
    model = LogisticRegression(C=c, max_iter=500).fit(x[rows], kinds, sample_weight=np.array(weight))
    for k, i in enumerate(model.classes_):
        kind[i] = model.coef_[k]
        kind[i, vocab["bias"]] += model.intercept_[k]
    coef = keep.coef_[0].copy()
    coef[vocab["bias"]] += keep.intercept_[0]
    return vocab, coef, kind


def folds(units):
    where = np.array([u["corpus"] for u in units])
    turn = np.array([u["turn"] for u in units])
    group = [u.get("group") or u["turn"] for u in units]
    order = {t: i for i, t in enumerate(sorted(set(group)))}
    part = np.array([order[g] for g in group]) % 4
    for corpus in sorted(set(where) - {EXAMPLES, SMALL}):
        for k in range(4) if corpus in BY_LANGUAGE else [None]:
            test = (where == corpus) & ((part == k) if k is not None else True)
            again = np.isin(turn, [t + " small" for t in set(turn[test])])
            yield np.where(~test & ~again)[0], np.where(test)[0]


def validate(units, c, examples):
    """The sums of weights and kinds that models give that have not seen the corpus."""
    z, kinds = np.full(len(units), np.nan), [None] * len(units)  # none of turns in small letters
    for train, test in folds(units):
        vocab, keep, kind = fit([units[i] for i in train], c, examples)
        x = matrix([units[i] for i in test], vocab)
        z[test] = x @ keep
        for i, k in zip(test, np.argmax(x @ kind.T, axis=1)):
            kinds[i] = KINDS[k]
    return z, kinds


def measure(units, turns, p, kinds, gate, where=lambda u: True):
    """Precision, recall and share of right kinds of what is above the gate."""
    right = wrong = kind = 0
    found = set()
    for u, x, k in zip(units, p, kinds):
        if u["corpus"] == EXAMPLES or not where(u) or not x >= gate:
            continue
        if u["right"]:
            right += 1
            kind += any(k == c["kind"] or k in (c["also"] or []) for c in u["covers"] if c["whole"])
            found.update((u["turn"], c["label"]) for c in u["covers"] if c["whole"])
        elif not u["small"]:
            wrong += 1
    total = sum(t["facts"] for t in turns.values() if where(t))
    return right / max(1, right + wrong), len(found) / max(1, total), kind / max(1, right)


def report(units, turns, p, kinds, gates):
    for gate in gates:
        print(f"gate {gate:.2f}: precision %.3f recall %.3f kind %.3f" % measure(units, turns, p, kinds, gate))
    for corpus in sorted({t["corpus"] for t in turns.values()}):
        cells = ["%.3f/%.3f/%.3f" % measure(units, turns, p, kinds, g, lambda u: u["corpus"] == corpus) for g in gates]
        print(f"  {corpus}: " + "  ".join(cells))
    for lang in ("en", "de", "es", "fr"):
        cells = ["%.3f/%.3f/%.3f" % measure(units, turns, p, kinds, g, lambda u: turns[u["turn"]]["lang"] == lang) for g in gates]
        print(f"  {lang}: " + "  ".join(cells))


def crowds(units):
    """How much more than three units the message of a unit has, in powers of two."""
    n = collections.Counter((u["turn"], u["message"]) for u in units)
    return np.array([np.log2(max(3, n[u["turn"], u["message"]]) / 3) for u in units])


def calibrate(units, z):
    """Slope, offset and what a crowd takes off, which make sums of weights the logarithm
    of odds of being right."""
    use = [i for i, u in enumerate(units) if u["corpus"] != EXAMPLES and not (u["small"] and not u["right"]) and not u["ignore"]]
    y = np.array([units[i]["right"] for i in use])
    m = LogisticRegression(C=1e6).fit(np.stack([z, crowds(units)], axis=1)[use], y)
    return float(m.coef_[0, 0]), float(m.intercept_[0]), float(-m.coef_[0, 1])


def odds(units, z, scale):
    slope, offset, crowd = scale
    return 1 / (1 + np.exp(-(slope * z + offset - crowd * crowds(units))))


def write(path, vocab, keep, kind, scale):
    step, kind_step = np.abs(keep).max() / 32767, np.abs(kind).max() / 127
    names = sorted(vocab, key=vocab.get)
    head = {"version": 1, "features": len(names), "kinds": KINDS, "step": step, "kind_step": kind_step}
    head.update(zip(("slope", "offset", "crowd"), scale))
    with open(path, "wb") as f:
        f.write(b"RCFACTS\n" + json.dumps(head).encode() + b"\n")
        f.write(b"".join(struct.pack("<I", fnv(n)) for n in names))
        f.write(np.round(keep / step).astype("<i2").tobytes())
        f.write(np.round(kind / kind_step).astype("i1").T.tobytes())
    return np.round(keep / step) * step, np.round(kind / kind_step)


def write_scores(path, units, vocab, keep, kind, scale):
    """What a test of the Go code compares with: every twentieth unit."""
    units = [u for u in units if u["corpus"] not in (EXAMPLES, SMALL)]
    x = matrix(units, vocab)
    p, best = odds(units, x @ keep, scale), np.argmax(np.round(x @ kind.T), axis=1)
    with open(path, "w", encoding="utf-8") as f:
        for u, v, k in list(zip(units, p, best))[::20]:
            f.write(json.dumps({"turn": u["turn"], "message": u["message"], "from": u["from"], "p": round(float(v), 8), "kind": KINDS[k]}) + "\n")


def main():
    args = argparse.ArgumentParser()
    args.add_argument("units")
    args.add_argument("weights", nargs="?")
    args.add_argument("scores", nargs="?")
    args.add_argument("--cv", action="store_true")
    args.add_argument("--without", default="", help="corpora to leave out of the training, as letters")
    args.add_argument("--c", type=float, default=0.3, help="inverse of the strength of regularisation")
    args.add_argument("--examples", type=float, default=1.5, help="how much an example of a rule weighs")
    args.add_argument("--scale", default="", help="slope, offset and crowd of an earlier measurement, to train without measuring")
    args.add_argument("--gates", default="0.6,0.7,0.75,0.8")
    a = args.parse_args()
    units, turns = read(a.units)
    units = [u for u in units if u["corpus"] not in a.without]
    turns = {k: t for k, t in turns.items() if t["corpus"] not in a.without}
    if a.scale:
        scale = [float(x) for x in a.scale.split(",")]
    else:
        z, kinds = validate(units, a.c, a.examples)
        seen = [i for i, u in enumerate(units) if u["corpus"] != SMALL]
        measured, z, kinds = [units[i] for i in seen], z[seen], [kinds[i] for i in seen]
        scale = calibrate(measured, z)
        report(measured, turns, odds(measured, z, scale), kinds, [float(g) for g in a.gates.split(",")])
        print("scale %.3f,%.3f,%.3f" % scale)
    if a.cv:
        return
    vocab, keep, kind = fit(units, a.c, a.examples)
    keep, kind = write(a.weights, vocab, keep, kind, scale)
    write_scores(a.scores, units, vocab, keep, kind, scale)
    print(f"{len(vocab)} features")


if __name__ == "__main__":
    main()
