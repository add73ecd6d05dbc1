"""Asks the reference tokenizer what it does to each character of Unicode, and
writes the answers down for package static:

    pip install tokenizers==0.23.3
    python characters.py > ../../internal/wordpiece/characters.txt

So ids do not depend on the Unicode version of a compiler or a library, and the
reference's own mixture of versions is kept. One line per run of characters, in
hexadecimal:

    d FROM TO            dropped by clean_text
    s FROM TO            white space
    p FROM TO            punctuation: a word of its own
    h FROM TO            handle_chinese_chars makes it a word of its own
    m FROM TO            a mark that strip_accents removes
    n FROM TO            a letter or a number (of Python's unicodedata)
    l FROM TO STEP DELTA lower case: each STEP-th character, plus DELTA
    x CHAR TO...         strip_accents makes it these; Hangul syllables are left
                         out, as their decomposition is a formula
    y CHAR TO...         lower case of several characters
"""

import sys
import unicodedata

from tokenizers import normalizers, pre_tokenizers

HANGUL = range(0xAC00, 0xD7A4)


def normalizer(**on):
    flags = dict(clean_text=False, handle_chinese_chars=False, strip_accents=False, lowercase=False)
    return normalizers.BertNormalizer(**{**flags, **on}).normalize_str


def runs(chars, step=1):
    """Returns (first, last) of each run of equal steps."""
    out = []
    for c in chars:
        if out and c == out[-1][1] + step:
            out[-1][1] = c
        else:
            out.append([c, c])
    return out


def case_runs(lower):
    """Returns (first, last, step, delta) for characters with one lower one."""
    out = []
    for c, to in lower:
        if out:
            first, last, step, delta = out[-1]
            gap = c - last
            if to - c == delta and (gap == step or (step == 0 and gap <= 2)):
                out[-1] = (first, c, gap, delta)
                continue
        out.append((c, c, 0, to - c))
    return [(first, last, step or 1, delta) for first, last, step, delta in out]


def main():
    clean = normalizer(clean_text=True)
    han = normalizer(handle_chinese_chars=True)
    strip = normalizer(strip_accents=True)
    lower = normalizer(lowercase=True)
    split = pre_tokenizers.BertPreTokenizer().pre_tokenize_str

    sets = {kind: [] for kind in "dsphmn"}
    cases, lines = [], []
    for c in range(sys.maxunicode + 1):
        if 0xD800 <= c < 0xE000:
            continue
        s = chr(c)
        if clean(s) == "":
            sets["d"].append(c)
        if han(s) != s:
            sets["h"].append(c)
        words = [w for w, _ in split("a" + s + "b")]
        if words == ["a", "b"]:
            sets["s"].append(c)
        elif words == ["a", s, "b"]:
            sets["p"].append(c)
        if unicodedata.category(s)[0] in "LN":
            sets["n"].append(c)
        if strip(s) == "":
            sets["m"].append(c)
        elif strip(s) != s and c not in HANGUL:
            lines.append(("x", c, *map(ord, strip(s))))
        small = lower(s)
        if len(small) > 1:
            lines.append(("y", c, *map(ord, small)))
        elif small != s:
            cases.append((c, ord(small)))

    for kind, chars in sets.items():
        for first, last in runs(chars):
            print(f"{kind} {first:x} {last:x}")
    for first, last, step, delta in case_runs(cases):
        print(f"l {first:x} {last:x} {step:x} {delta:x}")
    for kind, *chars in lines:
        print(kind, *(f"{c:x}" for c in chars))


if __name__ == "__main__":
    main()
