"""Tests of what is computed here; run.sh runs them before it measures."""

import json
import os
import tempfile
import unittest

import numpy

import measure
import table
from peer import Data
from systems.ragctx_rest import place


def data(test, chunks, vectors, queries, qrels=None):
    kept = tempfile.TemporaryDirectory()
    test.addCleanup(kept.cleanup)
    folder = kept.name

    def lines(name, rows):
        with open(os.path.join(folder, name), "w") as f:
            f.writelines(json.dumps(r) + "\n" for r in rows)

    lines("chunks.jsonl", [{"doc": d, "ordinal": o, "text": "t"} for d, o in chunks])
    lines("queries.jsonl", [{"id": q, "text": "t", "embedded": True} for q, _ in queries])
    lines("info.json", [{"dim": 2}])
    lines("qrels.json", [qrels])
    numpy.array(vectors, "<f4").tofile(os.path.join(folder, "chunks.f32"))
    numpy.array([v for _, v in queries], "<f4").tofile(os.path.join(folder, "queries.f32"))
    return Data(folder)


class Measures(unittest.TestCase):
    def test_ndcg(self):
        d = data(self, [("a", 0), ("b", 0), ("b", 1), ("c", 0)], [[1, 0]] * 4, [("q", [1, 0])], {"q": {"a": 1, "c": 2}})
        # trec_eval: gains as they are, discounts log2(place + 1); the best order is c, a.
        best = 2 + 1 / numpy.log2(3)
        self.assertAlmostEqual(measure.ndcg(d, [[3, 0]]), 1)
        self.assertAlmostEqual(measure.ndcg(d, [[["b", 1], ["b", 0], ["a", 0]]]), 1 / numpy.log2(3) / best)
        self.assertEqual(measure.ndcg(d, [[]]), 0)

    def test_recall(self):
        vectors = [[1, 0]] * 9 + [[0.5, 0], [0.5, 0], [0, 1]]  # 9 and 10 are as near as each other
        d = data(self, [("a", i) for i in range(12)], vectors, [("q", [1, 0])])
        self.assertEqual(measure.recall(d, [list(range(9)) + [10]]), 1)
        self.assertAlmostEqual(measure.recall(d, [[["a", i] for i in range(8)] + [11, 11]]), 0.8)

    def test_place(self):
        self.assertEqual(place("https://x/@b#c@2#13"), ["https://x/@b#c", 13])


class Tables(unittest.TestCase):
    def test_bold(self):
        rows = [["x", (1.0, "1.0"), ""], ["y", (2.0, "2.0"), (0.5, ".500")], ["z", (1.0, "1.0"), (0.6, ".600")]]
        out = table.table(["", "ms", "recall"], rows, [None, min, max]).splitlines()
        self.assertEqual(out[2:], ["| x | **1.0** |  |", "| y | 2.0 | .500 |", "| z | **1.0** | **.600** |"])

    def test_losses(self):
        def system(title, p50, mib):
            times = {"p50": p50, "p95": p50, "p99": p50}
            return {
                "title": title,
                "sets": {
                    "c": {
                        "found": {"hybrid": {"wall": times}},
                        "ingest": {"cpu": 1},
                        "start": 1,
                        "memory": {"anon": mib},
                        "disk": 1,
                    }
                },
            }

        systems = {"ragctx": system("ragctx", 1, 50), "ragctx-rest": system("REST", 0.5, 1), "x": system("X", 2, 20)}
        lost = table.losses({"sets": {"c": {"judged": False}}, "systems": systems})
        self.assertEqual(lost, ["- c: memory of its own: 50.0 MiB, X 20.0 MiB"])


if __name__ == "__main__":
    unittest.main()
