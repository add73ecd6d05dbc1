"""Writes the list of words that TestWriteVocabulary of package redact makes vocabulary.bin from.

    pip download --no-deps spacy-lookups-data==1.0.5
    python internal/redact/train/vocabulary.py spacy_lookups_data-1.0.5-py2.py3-none-any.whl internal/tokens/o200k_base.vocab > words.txt
    cd internal/redact && go test . -run TestWriteVocabulary -vocabulary "$OLDPWD/words.txt"

Each line has a rank and a word in lower case. A small rank means a frequent word. English, German and Spanish words are those with the highest
probability of spacy-lookups-data. That package has no probabilities of French words. What begins a word in the byte-pair vocabulary o200k_base
stands for them, and forms of what looks like a French verb. It also has words of other languages, and beginnings of longer words.
"""

import gzip
import hashlib
import json
import re
import sys
import zipfile

# What was read when vocabulary.bin was written. Both are under the MIT License.
WHEEL = "466f21f087e4144bc93800679437ec5a17be7d0888734b1ba880b3ecb0978bc6"
PAIRS = "ba55b38e477b631966c2496061ecd7d10108501c7c47358222d9dc27c22f9422"

MOST = {"en": 40000, "de": 65000, "es": 50000}  # words of a language
SHORTEST, LONGEST = 3, 12  # letters
FORMS = ["ant", "ante", "e", "es", "ent", "ez", "é", "ée", "és", "ées"]  # of French verbs in -er
KNOWN = 12000  # the rank of words of the byte-pair vocabulary, as of one that is not common

WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
LATIN = re.compile("[a-zà-öø-ÿœßāăąćčďđēėęěğģīįķĺļľłńņňőŕřśşšţťūůűųźżž]+")


def read(path, digest):
    with open(path, "rb") as f:
        data = f.read()
    if hashlib.sha256(data).hexdigest() != digest:
        sys.exit(f"{path} is not the file that vocabulary.bin was made from")
    return data


def tokens(data):
    """The tokens of a file of package tokens: the number of tokens, the length of each, their bytes."""
    n = int.from_bytes(data[:4], "little")
    at = 4 + n
    for length in data[4:at]:
        yield data[at : at + length]
        at += length


def main(wheel, pairs):
    read(wheel, WHEEL)
    rank = {}
    with zipfile.ZipFile(wheel) as z:
        for language, most in MOST.items():
            best = {}
            for word, p in json.loads(gzip.decompress(z.read(f"spacy_lookups_data/data/{language}_lexeme_prob.json.gz"))).items():
                if WORD.fullmatch(word) and len(word.lower()) >= SHORTEST:
                    best[word.lower()] = max(best.get(word.lower(), p), p)
            for i, word in enumerate(sorted(best, key=lambda w: -best[w])[:most]):
                rank[word] = min(rank.get(word, i), i)
    ranked = set(rank)
    for token in tokens(read(pairs, PAIRS)):
        word = token.decode("utf-8", "replace").lower()
        if word[0] == " " and LATIN.fullmatch(word[1:]) and SHORTEST < len(word) <= LONGEST + 1 and word[1:] not in ranked:
            rank[word[1:]] = KNOWN
            if word.endswith("er"):
                for form in FORMS:
                    rank.setdefault(word[1:-2] + form, KNOWN)
    for word, i in sorted(rank.items(), key=lambda x: (x[1], x[0])):
        print(i, word)


main(*sys.argv[1:])
