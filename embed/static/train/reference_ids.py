"""Writes texts and the ids that the reference tokenizer gives them, for the
tests of package static:

    pip install tokenizers==0.23.3
    python reference_ids.py MODEL_DIR ../testdata/reference.jsonl.gz

The texts are made here: sentences of many languages, code, every character of
the scripts in use, and random mixtures of what tokenizers get wrong.
"""

import gzip
import json
import os
import random
import sys

from tokenizers import Tokenizer
from tokenizers.normalizers import BertNormalizer

SENTENCES = """
The quick brown fox jumps over the lazy dog; don't you think so?
To roll back a release, undo the deployment: kubectl rollout undo deployment/web --to-revision=2
Unaffordable antidisestablishmentarianism, pneumonoultramicroscopicsilicovolcanoconiosis & co.
E = mc², x ≤ y ≠ z, ½ + ¼ = ¾, ∀ε>0 ∃δ>0, 10⁻³ µs, 5 kΩ, 20 °C, €100, £5, ¥7, 50¢
“Curly” ‘quotes’ — dashes – and… ellipses • bullets · dots ¿qué? ¡sí!
Naïve café façade résumé coöperate Ångström Þórr Øresund Łódź Dvořák İstanbul ısırgan Straße STRASSE ẞ
Der Umgang mit Grundstücksverkehrsgenehmigungszuständigkeitsübertragungsverordnungen ist mühsam.
L'été dernier, j'ai mangé des pâtes à l'œuf chez ma sœur aînée à Nîmes.
El niño pequeño comió piñas y jalapeños en el corazón de España.
Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι· ΟΔΥΣΣΕΥΣ όμως;
Все люди рождаются свободными и равными в своём достоинстве и правах. Йод, ёлка, ъ.
Усі люди народжуються вільними і рівними; їжак, ґанок.
يولد جميع الناس أحرارًا متساوين في الكرامة والحقوق، أليس كذلك؟
כל בני האדם נולדו בני חורין ושווים בערכם ובזכויותיהם. שָׁלוֹם
सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता प्राप्त है। क़लम ज़रूर
সমস্ত মানুষ স্বাধীনভাবে সমান মর্যাদা এবং অধিকার নিয়ে জন্মগ্রহণ করে। কো কৌ
எல்லா மனிதர்களும் சுதந்திரமாகவே பிறக்கின்றனர்; கொ கோ கௌ ஔ
มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ
人人生而自由，在尊严和权利上一律平等。他们赋有理性和良心。㐀𠀀𪜀豈﨎
すべての人間は、生れながらにして自由であり、かつ、尊厳と権利とについて平等である。ガギグゲゴ ｶﾞｷﾞ パピプペポ
모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다. 한글 각 힣
Tất cả mọi người sinh ra đều được tự do và bình đẳng về nhân phẩm và quyền lợi.
ყველა ადამიანი იბადება თავისუფალი. ᲐᲑᲒ Ⴀ
Բոլոր մարդիկ ծնվում են ազատ ու հավասար։ և
ሰው ሁሉ ነፃ ሆኖ ተፈጠረ። ᏣᎳᎩ Ꭰ ꭰ ꮿ
👩‍👩‍👧‍👦 🎉🎉 🇩🇪 ☃️ ✈ ❤️ 👍🏽 ok
if err := f.Close(); err != nil { return fmt.Errorf("close %q: %w", name, err) }
def __init__(self, *args, **kwargs): super().__init__(); self._x = lambda a: a**2 + 0x1F
SELECT COUNT(*) FROM `users` WHERE e_mail LIKE '%@example.com' -- comment
https://example.com/a/b?c=d&e=f#g user@host:~$ ls -la /usr/share/doc | grep '^d' > /tmp/x 2>&1
192.168.0.1 2001:db8::1 v1.2.3-rc.4+build.5 1,000,000.00 3.14159 1e-9 0b1010 CVE-2021-44228
[CLS] hello [SEP] world [MASK]ed [UNK][PAD] [cls] [ CLS ] [[SEP]] a[SEP]b [MASK [MASK]
├── src │ ├── main.go └── README.md ────── ▓▓▓ ████ ← → ⇒ ✓ ✗ ★
Z̸͓̪̑a̴̫̐l̷̘̈́g̶̙̔o̵̟͘ é é Å Å ﬁ ﬂ ﬀ Ⅷ ⅷ ① Ⓐ ⓐ ａｂｃ ＡＢＣ １２３ ！？
soft­hyphen zero​width joiner‍here bom﻿mid word⁠joiner lrm‎ rlm‏ ideographic　space nbsp thin narrow
HTTPServer getUserByID snake_case_name kebab-case-name CamelCase2Snake iPhone15 K8s i18n x86_64
""".strip().split("\n")

NASTY = [
    "", " ", "\n", "\t", "\r\n", "\x00", "\x0b", "\x0c", "\x1f", "\x7f", "\x80", "\x85", "\x9f", "\xa0", "\xad",
    "\u0301", "\u0300\u0323", "\u200b", "\u200d", "\u2028", "\u2029", "\u202e", "\u3000", "\ufeff", "\ufffd", "\ufffe",
    "\ue000", "\U000f0000", "\U0010ffff", "\U000e0041", "\u0130", "I\u0307", "\u1e9e", "\ufb01", "\u037e", "\u1fef",
    "\u2260", "\u226e", "\u212b", "\u2126", "\u4e00", "\uf900", "\ufa0e", "\u3007", "\U00020000", "\U0002f800",
    "\uac00", "\ud7a3", "\u1100\u1161", "\u0344", "\u0958", "\u09cb", "\U0001d15e", "\U0001f600", "\U00010400",
    "\U0001e900", "##", "##ing", "[UNK]", "[SEP]", "[CLS]", "[MASK]", "[PAD]", "[unused0]", "['", "'s", "a" * 100,
    "a" * 101, "é" * 100, "é" * 101, "я" * 100, "\U00010400" * 100, "\U00010400" * 101, "中" * 5, "\u0378", "\u08d3",
    "\ua8c5", "\u1df6", "\U0001e130", "\u302e", "\U00016ff0",
]

BLOCKS = [(0x00, 0x3400), (0x4DB0, 0x4E20), (0x9FF0, 0xA830), (0xA830, 0xAC40), (0xD780, 0xD800), (0xE000, 0xE010),
          (0xF8F0, 0x10000), (0x10000, 0x11800), (0x16F00, 0x16FF8), (0x1D100, 0x1D800), (0x1E000, 0x1E960),
          (0x1F000, 0x1FB00), (0x20000, 0x20010), (0x2F7F0, 0x2FA30), (0xE0000, 0xE01F0)]


def texts(vocab, rng):
    yield from SENTENCES
    yield from NASTY
    for first, last in BLOCKS:
        for start in range(first, last, 64):
            chars = [chr(c) for c in range(start, min(start + 64, last))]
            yield " ".join(chars)
            yield "x" + "1x".join(chars)
    words = [t.removeprefix("##") for t in vocab]
    chars = [chr(c) for first, last in BLOCKS for c in range(first, last)]
    for n in range(900):
        parts = []
        for _ in range(rng.randint(1, 24)):
            parts.append(rng.choice((
                lambda: rng.choice(words), lambda: rng.choice(words).upper(), lambda: rng.choice(words).title(),
                lambda: rng.choice(words) + rng.choice(words), lambda: rng.choice(NASTY), lambda: rng.choice(chars),
                lambda: rng.choice(rng.choice(SENTENCES).split()), lambda: chr(rng.randint(32, 126)),
                lambda: str(rng.randint(0, 10 ** rng.randint(1, 12))),
            ))())
        yield rng.choice(("", " ", " ", " ", "-", "\n")).join(parts)


# Other rules than those of BERT uncased, by the flags that are on: clean_text,
# handle_chinese_chars, strip_accents, lowercase.
OTHER_RULES = ("ch", "chl", "chs", "sl", "")


def tokenizer_of(model, flags):
    tokenizer = Tokenizer.from_file(os.path.join(model, "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokenizer.normalizer = BertNormalizer(
        clean_text="c" in flags, handle_chinese_chars="h" in flags, strip_accents="s" in flags, lowercase="l" in flags)
    return tokenizer


def main(model, out):
    with open(os.path.join(model, "vocab.txt"), encoding="utf-8") as f:
        vocab = f.read().rstrip("\n").split("\n")
    cases = [("chsl", texts(vocab, random.Random(1)))]
    for flags in OTHER_RULES:
        cases.append((flags, SENTENCES + NASTY))
    with open(out, "wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=0) as f:
        for flags, case in cases:
            tokenizer = tokenizer_of(model, flags)
            for text in case:
                ids = tokenizer.encode(text, add_special_tokens=False).ids
                f.write(json.dumps({"rules": flags, "text": text, "ids": ids}, separators=(",", ":")).encode() + b"\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
