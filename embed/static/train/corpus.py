"""Cuts documentation into passages and question-passage pairs for training.

    corpus.py OUT.tsv.gz SOURCES.tsv [--exclude DIR ...]

SOURCES.tsv has a line for each source: kind, name, where it lies on this disk.
Kinds are "git" (a bare or other repository, name@revision), "deb" (a Debian
package file) and "python" (a wheel or source archive). Each line of OUT holds the
source's name, the headings above the passage (or a function's docstring), and
the passage, separated by tabs; inside them, tabs and line ends are spaces.

--exclude names folders with evaluation sets (*/corpus.jsonl, */queries.jsonl). A
passage that shares 10 words in a row with any of them is left out, so that
nothing the table is measured on is in what it is trained on.
"""

import argparse, ast, glob, gzip, hashlib, io, json, os, random, re, subprocess, sys, tarfile, tempfile, textwrap, zipfile, zlib
from concurrent.futures import ProcessPoolExecutor

import lxml.etree
import lxml.html

PER_SOURCE = 20_000   # passages; no source drowns the others
PER_CODE = 6_000
SHORTEST, LONGEST = 60, 1500   # characters of a passage
SHINGLE = 10          # words

HEADINGS = {"h1": 1, "h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6}
BLOCKS = {"p", "li", "dd", "dt", "pre", "td", "th", "blockquote", "figcaption", "caption"}
SKIP = {"script", "style", "nav", "head", "footer", "svg", "math", "img", "noscript"}


def squeeze(text):
    return " ".join(text.split())


def html_blocks(root):
    """Yields (level, text); level 0 is a paragraph."""
    stack = [root]
    while stack:
        e = stack.pop()
        tag = lxml.etree.QName(e).localname.lower() if isinstance(e.tag, str) else None
        if tag is None or tag in SKIP:
            continue
        if tag in HEADINGS:
            yield HEADINGS[tag], squeeze("".join(e.itertext()))
        elif tag in BLOCKS and not any(isinstance(c.tag, str) and lxml.etree.QName(c).localname in ("p", "ul", "ol", "table", "dl") for c in e):
            yield 0, squeeze("".join(e.itertext()))
        else:
            stack.extend(reversed(e))


def cnxml_blocks(root):
    """OpenStax modules: nested sections with titles."""
    def walk(e, level):
        for c in e:
            if not isinstance(c.tag, str):
                continue
            tag = lxml.etree.QName(c).localname
            if tag == "title":
                yield max(level, 1), squeeze("".join(c.itertext()))
            elif tag in ("para", "item", "caption", "entry", "meaning", "problem"):
                yield 0, squeeze("".join(c.itertext()))
            elif tag == "definition":
                yield 0, squeeze(": ".join("".join(x.itertext()).strip() for x in c))
            elif tag not in ("metadata", "math"):
                yield from walk(c, level + (tag == "section"))
    yield from walk(root, 1)


LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
ROLE = re.compile(r":[\w:.-]+:`([^`<]*?)\s*(?:<[^`]*>)?`")
MARK = re.compile(r"[*_`]{1,3}|\{%.*?%\}|\{\{.*?\}\}|<[^>\n]{1,200}>|\{#[\w-]+\}")


def plain(text):
    return squeeze(MARK.sub("", ROLE.sub(r"\1", LINK.sub(r"\1", text))))


def marked_blocks(text, rst=False):
    """Markdown, reStructuredText and AsciiDoc, well enough for training."""
    if text.startswith("---\n"):
        front, _, text = text[4:].partition("\n---")
        if m := re.search(r"^title:\s*['\"]?(.+?)['\"]?\s*$", front, re.M):
            yield 1, m.group(1)
        if m := re.search(r"^description:\s*['\"]?(.+?)['\"]?\s*$", front, re.M):
            yield 0, m.group(1)
    lines, para, levels, fence = text.split("\n"), [], {}, False
    i = 0
    while i < len(lines):
        line = lines[i].rstrip()
        head = None
        if line.lstrip().startswith(("```", "~~~")):
            fence = not fence
            i += 1
            continue
        if not fence:
            if m := re.match(r"(#{1,6}|={2,6})\s+(.+?)\s*#*$", line):
                head = (len(m.group(1)), m.group(2))
            elif i + 1 < len(lines) and line.strip() and re.match(r"^([=\-~^\"'+*#.`])\1{2,}\s*$", lines[i + 1]) and len(lines[i + 1].rstrip()) >= len(line) * .8:
                mark = lines[i + 1][0]
                head = (levels.setdefault(mark, len(levels) + 1), line)
                i += 1
        if head:
            yield 0, plain(" ".join(para))
            para = []
            yield head[0], plain(head[1])
        elif not line.strip() and not fence:
            yield 0, plain(" ".join(para))
            para = []
        elif rst and re.match(r"\s*\.\. (?!note|warning|tip|versionadded|deprecated)", line) or re.match(r"^\s*:\w[\w ]*:\s", line) or line.startswith(("import ", "export ")):
            pass
        else:
            para.append(line)
        i += 1
    yield 0, plain(" ".join(para))


def man_blocks(text):
    for line in text.split("\n"):
        if line.startswith((".SH", ".Sh")):
            yield 2, line[3:].strip().strip('"').capitalize()
        elif line.startswith((".SS", ".Ss")):
            yield 3, line[3:].strip().strip('"')
        elif line.startswith((".TH", ".Dt")):
            yield 1, (line.split() + [""])[1].strip('"').lower()
        elif line.startswith((".PP", ".P", ".TP", ".IP", ".Pp", ".It")):
            yield 0, ""
        elif line.startswith((".B", ".I", ".RB", ".Nm", ".Fl", ".Ar", ".BR", ".IR")):
            yield -1, line.split(" ", 1)[-1].replace('"', "")
        elif not line.startswith((".", "'")):
            yield -1, line


ROFF = re.compile(r"\\f(?:\[\w+\]|\(..|.)|\\[&|^]|\\\*?\((..)|\\s[-+]?\d")


def joined(blocks):
    """Joins level -1 (part of a paragraph) to paragraphs."""
    part = []
    for level, text in blocks:
        if level == -1:
            part.append(text)
            continue
        if part:
            yield 0, squeeze(ROFF.sub("", " ".join(part)).replace("\\-", "-").replace("\\e", "\\"))
            part = []
        yield level, text
    if part:
        yield 0, squeeze(ROFF.sub("", " ".join(part)).replace("\\-", "-"))


def passages(blocks, rng):
    """Packs the paragraphs below one heading into passages of changing size."""
    path, pack, size, aim = [], [], 0, rng.choice((200, 400, 700, 1100))
    def out():
        nonlocal pack, size, aim
        text = " ".join(pack)
        pack, size, aim = [], 0, rng.choice((200, 400, 700, 1100))
        letters = sum(c.isalpha() and c.isascii() for c in text[:400])
        if len(text) >= SHORTEST and letters > .6 * len(text[:400]):
            yield " > ".join(t for _, t in path)[-200:], text[:LONGEST]
    for level, text in blocks:
        if level > 0:
            yield from out()
            path = [(l, t) for l, t in path if l < level][-2:]
            if text:
                path.append((level, text[:120]))
        elif text:
            pack.append(text)
            size += len(text)
            if size >= aim:
                yield from out()
    yield from out()


def document(name, data, rng):
    low = name.lower()
    if low.endswith(".gz"):
        try:
            data = gzip.decompress(data)
        except OSError:
            return
        low = low[:-3]
    if len(data) > 8_000_000:
        return
    try:
        if low.endswith((".html", ".htm", ".xhtml", ".xht")):
            blocks = html_blocks(lxml.html.document_fromstring(data))
        elif low.endswith(".cnxml"):
            blocks = cnxml_blocks(lxml.etree.fromstring(data))
        elif low.endswith((".md", ".mdx", ".markdown", ".adoc", ".asciidoc")):
            blocks = marked_blocks(data.decode("utf-8", "replace"))
        elif low.endswith((".rst", ".rest", ".txt")):
            blocks = marked_blocks(data.decode("utf-8", "replace"), rst=True)
        elif "/man/man" in low and re.search(r"\.\d\w*$", low):
            blocks = joined(man_blocks(data.decode("utf-8", "replace")))
        else:
            return
        yield from passages(blocks, rng)
    except (lxml.etree.LxmlError, ValueError, RecursionError):
        return


def functions(data):
    """Pairs of what a docstring says first and the function it describes."""
    try:
        source = data.decode("utf-8")
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    lines = source.split("\n")
    for node in ast.walk(tree):
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        doc = ast.get_docstring(node)
        if not doc or len(doc) < 20:
            continue
        first = squeeze(doc.split("\n\n")[0])[:300]
        end = node.end_lineno if not isinstance(node, ast.ClassDef) else min(node.end_lineno, node.lineno + 30)
        code = "\n".join(lines[node.lineno - 1:end])
        if len(code) > len(doc) * 1.3 + 40 and len(first.split()) >= 3:
            code = textwrap.dedent(code)
            body = code.replace(doc, "").replace('"""', " ") if zlib.crc32(first.encode()) % 2 else code
            yield first, squeeze(body)[:LONGEST]
        if len(doc) > 150:
            yield node.name.replace("_", " "), squeeze(doc)[:LONGEST]


def git_files(where, revision):
    names = subprocess.run(["git", "-C", where, "ls-tree", "-r", "--name-only", "-z", revision], capture_output=True, check=True).stdout.decode().split("\0")
    keep = [n for n in names if re.search(r"\.(md|mdx|markdown|rst|adoc|asciidoc|cnxml|xhtml|html)$", n) and not re.search(r"(^|/)(i18n|translations?|locale|vendor|pages\.\w\w)/", n)
            and not re.search(r"/(de|es|fr|ja|zh|ko|pt|ru|it)(-\w+)?/", n)]
    pipe = subprocess.Popen(["git", "-C", where, "cat-file", "--batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    for n in keep:
        pipe.stdin.write(f"{revision}:{n}\n".encode())
        pipe.stdin.flush()
        head = pipe.stdout.readline().split()
        if len(head) != 3:
            continue
        data = pipe.stdout.read(int(head[2]))
        pipe.stdout.read(1)
        yield n, data
    pipe.stdin.close()
    pipe.wait()


def disk_files(root):
    for folder, _, names in os.walk(root):
        for n in names:
            path = os.path.join(folder, n)
            if not os.path.islink(path) and not re.search(r"/(de|es|fr|ja|zh\w*|ko|pt\w*|ru|it|pl|cs|nl|tr|hu|fi|sv|da|el|ca|sr\w*|uk|id|ro|vi)/", path[len(root):]):
                with open(path, "rb") as f:
                    yield path[len(root):], f.read()


def archive_files(path):
    if path.endswith((".whl", ".zip")):
        with zipfile.ZipFile(path) as z:
            for n in z.namelist():
                yield n, z.read(n)
    else:
        with tarfile.open(path) as t:
            for m in t:
                if m.isfile():
                    yield m.name, t.extractfile(m).read()


def read_source(line):
    kind, name, where = line
    rng = random.Random(name)
    pairs = []
    if kind == "git":
        for n, data in git_files(where, name.rpartition("@")[2]):
            pairs += document(n, data, rng)
    elif kind == "deb":
        with tempfile.TemporaryDirectory() as tmp:
            subprocess.run(["dpkg", "-x", where, tmp], check=True, capture_output=True)
            for n, data in disk_files(tmp):
                if "copyright" not in n and "changelog" not in n.lower():
                    pairs += document(n, data, rng)
    else:
        code = []
        for n, data in archive_files(where):
            if n.endswith(".py"):
                code += functions(data)
            else:
                pairs += document(n, data, rng) if not re.search(r"licen|copying|changelog|requirements|entry_points|RECORD|top_level|SOURCES", n, re.I) else []
        rng.shuffle(code)
        pairs += code[:PER_CODE]
    rng.shuffle(pairs)
    return name, pairs[:PER_SOURCE]


WORD = re.compile(r"\w+")


def shingles(text):
    words = WORD.findall(text.lower())
    return (hash(tuple(words[i:i + SHINGLE])) for i in range(len(words) - SHINGLE + 1))


def excluded(folders):
    seen = set()
    for folder in folders:
        for path in glob.glob(os.path.join(folder, "*", "corpus.jsonl")) + glob.glob(os.path.join(folder, "*", "queries.jsonl")):
            with open(path) as f:
                for line in f:
                    seen.update(shingles(json.loads(line)["text"]))
    return seen


def main():
    p = argparse.ArgumentParser()
    p.add_argument("out")
    p.add_argument("sources")
    p.add_argument("--exclude", nargs="*", default=[])
    p.add_argument("--jobs", type=int, default=2)
    a = p.parse_args()
    with open(a.sources) as f:
        sources = [l.rstrip("\n").split("\t") for l in f if l.strip()]
    known, barred, left_out, n = set(), excluded(a.exclude), 0, 0
    print(f"{len(barred):,} runs of {SHINGLE} words are barred", file=sys.stderr)
    with gzip.open(a.out, "wt", compresslevel=1) as out, ProcessPoolExecutor(a.jobs) as pool:
        for name, pairs in pool.map(read_source, sources):
            kept = 0
            for title, text in pairs:
                key = hashlib.blake2b(squeeze(text).lower()[:400].encode("utf-8", "replace"), digest_size=8).digest()
                if key in known:
                    continue
                known.add(key)
                if any(s in barred for s in shingles(text)):
                    left_out += 1
                    continue
                out.write("\t".join((name.partition("@")[0], squeeze(title), squeeze(text))).encode("utf-8", "replace").decode() + "\n")
                kept += 1
            n += kept
            print(f"{name}\t{kept}", file=sys.stderr)
    print(f"{n:,} passages; {left_out:,} left out", file=sys.stderr)


if __name__ == "__main__":
    main()
