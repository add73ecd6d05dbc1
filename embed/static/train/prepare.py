"""Makes views of the passages, tokenises them, and asks the teacher about some.

    prepare.py CORPUS.tsv.gz MODEL OUT [--teach N]

OUT gets tokens.npz: for each passage itself ("p"), a question or title for it
("t") and a sentence of it ("s"); tokens.npy: what the teacher says of each token
by itself; and teacher.npz: what it says of the three views of the first N
passages (which are in random order).
"""

import argparse, gzip, os, random, re

import numpy as np

from model import TOKENS, Teacher, tokenize, tokenizer

QUESTIONS = """how do I {}|how to {}|what is {}|what are {}|where is {}|when did {}|why does {}|can you explain {}
tell me about {}|which {}|who {}|how does {} work|what did we say about {}|is it possible to {}|{}?""".replace("\n", "|").split("|")


def question(headings, rng):
    """Returns the last headings, a third of them as somebody would ask."""
    parts = headings.split(" > ")
    title = parts[-1] if len(parts) == 1 or rng.random() < 0.5 else " ".join(parts[-2:])
    if len(title) < 4:
        return None
    if rng.random() < 0.3 and len(title) < 80:
        return rng.choice(QUESTIONS).format(title[:1].lower() + title[1:])
    return title


def sentence(passage, rng):
    sentences = [s for s in re.split(r"(?<=[.!?;:])\s+", passage) if 25 <= len(s) <= 300]
    if sentences:
        return rng.choice(sentences)
    words = passage.split()
    start = rng.randrange(max(1, len(words) - 8))
    return " ".join(words[start : start + rng.randint(5, 16)])


def main():
    p = argparse.ArgumentParser()
    p.add_argument("corpus")
    p.add_argument("model")
    p.add_argument("out")
    p.add_argument("--teach", type=int, default=36_000)
    a = p.parse_args()
    rng, tok = random.Random(1), tokenizer(a.model)
    views = {"p": [], "t": [], "s": []}
    with gzip.open(a.corpus, "rt") as f:
        for line in f:
            _, headings, passage = line.rstrip("\n").split("\t")
            asked, said = question(headings, rng), sentence(passage, rng)
            for k, text in zip("pts", (passage, asked or said, said)):
                views[k].append(text)
    order = np.random.default_rng(1).permutation(len(views["p"]))
    tokens = {}
    for k, limit in (("p", 126), ("t", 64), ("s", 64)):
        flat, tokens[k + "o"] = tokenize(tok, [views[k][i] for i in order], limit)
        tokens[k] = flat.astype(np.uint16)
    np.savez(os.path.join(a.out, "tokens.npz"), **tokens)

    teacher = Teacher(a.model)
    np.save(os.path.join(a.out, "tokens.npy"), teacher.embed(np.arange(TOKENS), np.arange(TOKENS + 1)))
    said = {}
    for k in "pts":
        o = tokens[k + "o"][: a.teach + 1]
        said[k] = teacher.embed(tokens[k][: o[-1]].astype(np.int64), o, 128)
    np.savez(os.path.join(a.out, "teacher.npz"), **said)


if __name__ == "__main__":
    main()
