"""Writes the teacher's answers to evaluation sets, to compare the table with.

    teacher_runs.py MODEL SETS OUT SET...

For each SET below SETS a run file, OUT/SET.vector.run.tsv: question, document and
cosine, the best 100. Documents are cut into pieces of up to 1,300 characters, and
the best piece counts. If documents have a "conversation" or "lang", a question is
asked of those with the same.
"""

import json, os, sys

import numpy as np

from model import Teacher, tokenize, tokenizer


def lines(path):
    with open(path) as f:
        return [json.loads(line) for line in f]


def pieces(text):
    while len(text) > 1300:
        cut = text.rfind(" ", 600, 1000) + 1 or 1000
        yield text[:cut]
        text = text[cut:]
    yield text


def scope(entry):
    m = entry.get("metadata") or {}
    return m.get("conversation") or m.get("lang")


def main():
    model, sets, out, *names = sys.argv[1:]
    tok, teacher = tokenizer(model), Teacher(model)

    def embed(texts):
        return teacher.embed(*tokenize(tok, texts, 254)).astype(np.float32)

    for name in names:
        docs, questions = (lines(os.path.join(sets, name, f)) for f in ("corpus.jsonl", "queries.jsonl"))
        parts = [(i, p) for i, d in enumerate(docs) for p in pieces("\n".join(filter(None, (d.get("title"), d["text"]))))]
        owner = np.array([i for i, _ in parts])
        vectors, asked = embed([p for _, p in parts]), embed([q["text"] for q in questions])
        scopes = np.array([str(scope(d)) for d in docs])
        with open(os.path.join(out, name + ".vector.run.tsv"), "w") as f:
            for q, v in zip(questions, asked):
                best = np.full(len(docs), -2, dtype=np.float32)
                np.maximum.at(best, owner, vectors @ v)
                best[scopes != str(scope(q))] = -2
                for d in np.argsort(-best, kind="stable")[:100]:
                    if best[d] > -2:
                        f.write(f"{q['_id']}\t{docs[d]['_id']}\t{best[d]:.6f}\n")
        print(name, flush=True)


if __name__ == "__main__":
    main()
