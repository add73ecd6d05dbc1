"""Fits the weights with which package facts decides that a statement makes an earlier one obsolete.

    go test ./providers/memory/facts -run TestPairs -pairs pairs.jsonl
    python providers/memory/facts/train/change.py pairs.jsonl providers/memory/facts/change_weights.go

A dialogue says which statements are obsolete at its end, not which sentence made them so: of the pairs of an obsolete
statement, the one with the highest score counts. What speaks for a change has a weight above 0, what speaks against
it one below 0. Without a second file it only measures, with weights that have not seen the dialogue.
"""

import argparse
import json

import numpy as np
from scipy.optimize import minimize

AGAINST = {
    "only common words", "no word", "to old value", "no subject in common", "stay after old value", "no change", "added",
    "added, word", "stays", "ahead", "nothing new", "old denies", "denied, become", "other holder", "ends another",
    "number of the old", "number of the new", "also",
}
NEVER, SURE = -20.0, 20.0
# What the first choice of pairs is based on.
START = {"share of the new": 1, "topic, change": 1, "old name, replace": 1, "old name, end": 1, "another wish": 2, "change": 0.5}


class Pairs:
    def __init__(self, path):
        rows = [json.loads(line) for line in open(path, encoding="utf-8")]
        self.rows = rows
        self.names = sorted({k for r in rows for k in r["evidence"]})
        at = {n: i for i, n in enumerate(self.names)}
        self.x = np.zeros((len(rows), len(self.names) + 1))
        self.x[:, -1] = 1
        for i, r in enumerate(rows):
            for k, v in r["evidence"].items():
                self.x[i, at[k]] = v
        self.never = np.array([NEVER if r["never"] else SURE if r["sure"] else 0 for r in rows])
        bags = {}
        for i, r in enumerate(rows):
            bags.setdefault((r["dialogue"], r["id"]), []).append(i)
        self.bags = list(bags.values())
        self.gone = [rows[b[0]]["gone"] for b in self.bags]
        self.dialogue = [rows[b[0]]["dialogue"] for b in self.bags]

    def scores(self, w):
        return self.x @ w + self.never

    def fit(self, train, strength, kept):
        """The weights of the evidence, and last the bias."""
        w = np.array([START.get(n, -1.0 if n in AGAINST else 0.1) for n in self.names] + [0.0])
        bounds = [(None, 0) if n in AGAINST else (0, None) for n in self.names] + [(None, None)]
        for _ in range(6):
            s = self.scores(w)
            use, y, weight = [], [], []
            for b in train:
                rows = self.bags[b]
                if self.gone[b] == "yes":
                    i = rows[int(np.argmax(s[rows]))]
                    if not self.never[i]:
                        use.append(i)
                        y.append(1)
                        weight.append(1.0)
                    continue
                for i in rows:
                    if not self.never[i]:
                        use.append(i)
                        y.append(0)
                        weight.append(kept if self.gone[b] == "no" else kept / 2)
            x, y, weight = self.x[use], np.array(y), np.array(weight)

            def loss(w):
                z = np.clip(x @ w, -30, 30)
                p = 1 / (1 + np.exp(-z))
                value = -(weight * (y * np.log(p + 1e-12) + (1 - y) * np.log(1 - p + 1e-12))).sum() + strength * (w[:-1] ** 2).sum()
                slope = x.T @ (weight * (p - y))
                slope[:-1] += 2 * strength * w[:-1]
                return value, slope

            w = minimize(loss, np.zeros_like(w), jac=True, bounds=bounds, method="L-BFGS-B").x
        return w

    def validate(self, strength, kept, seed):
        """The highest score of each old statement, with weights that have not seen its dialogue."""
        ids = sorted(set(self.dialogue))
        fold = {d: i % 5 for i, d in enumerate(np.random.RandomState(seed).permutation(ids))}
        out = np.zeros(len(self.bags))
        for k in range(5):
            w = self.fit([b for b in range(len(self.bags)) if fold[self.dialogue[b]] != k], strength, kept)
            s = self.scores(w)
            for b in range(len(self.bags)):
                if fold[self.dialogue[b]] == k:
                    out[b] = max(s[self.bags[b]])
        return out


def main():
    args = argparse.ArgumentParser()
    args.add_argument("pairs")
    args.add_argument("weights", nargs="?")
    args.add_argument("--strength", type=float, default=0.3, help="of the regularisation")
    args.add_argument("--kept", type=float, default=1.0, help="the weight of a pair that changes nothing")
    args.add_argument("--gate", type=float, default=0.6, help="the least score of a change")
    args.add_argument("--show", type=int, default=0)
    a = args.parse_args()
    p = Pairs(a.pairs)
    gone = np.array(p.gone)
    print(len(p.rows), "pairs;", {k: int((gone == k).sum()) for k in ("yes", "no", "unknown")})
    runs = [p.validate(a.strength, a.kept, seed) for seed in range(3)]
    for gate in sorted({a.gate, 0, 0.4, 1.2, 1.6, 2.0, 2.5}):
        found = [[(s[gone == k] >= gate).mean() for k in ("yes", "no", "unknown")] for s in runs]
        print("gate %.1f: %.3f of the obsolete, %.3f of the kept, %.3f of the others" % (gate, *np.mean(found, 0)))
    if a.show:
        s = runs[0]
        order = sorted((b for b in range(len(gone)) if gone[b] != "yes"), key=lambda b: -s[b])[: a.show]
        order += sorted((b for b in range(len(gone)) if gone[b] == "yes"), key=lambda b: s[b])[: 3 * a.show]
        w = p.fit(range(len(p.bags)), a.strength, a.kept)
        for b in order:
            i = p.bags[b][int(np.argmax(p.scores(w)[p.bags[b]]))]
            r = p.rows[i]
            print("%.2f" % s[b], r["gone"], r["dialogue"], "|", r["old"], "<-", r["new"], "|", "NEVER" if r["never"] else "", "; ".join(sorted(r["evidence"])))
    if not a.weights:
        return
    w = p.fit(range(len(p.bags)), a.strength, a.kept)
    lines = ["package facts", "", "// changeBias is the score without evidence, changeWeights what [evidence] adds. train/change.py writes them.",
             "const changeBias = %.2f" % (w[-1] - a.gate), "", "var changeWeights = map[string]float64{"]
    lines += ['\t"%s": %.2f,' % (n, v) for n, v in zip(p.names, w) if abs(v) >= 0.005]
    open(a.weights, "w", encoding="utf-8").write("\n".join(lines + ["}", ""]))


if __name__ == "__main__":
    main()
