"""Makes tables of a report of measure.py, and puts them between two markers of a page.

usage: table.py REPORT.json [PAGE.md]
"""

import json
import sys

BEGIN, END = "<!-- peers: made by bench/peers/run.sh -->", "<!-- peers: end -->"
MODES = ["keyword", "vector", "hybrid"]
OURS = "ragctx"


def table(head, rows, best):
    """A table in Markdown. best has, per column, min, max or None: bold is the best figure
    of a column. A cell is text, or a number and how it is written."""
    of = {
        i: pick([r[i][0] for r in rows if isinstance(r[i], tuple)])
        for i, pick in enumerate(best)
        if pick and sum(isinstance(r[i], tuple) for r in rows) > 1
    }

    def cell(i, c):
        if not isinstance(c, tuple):
            return c
        return f"**{c[1]}**" if c[0] == of.get(i) else c[1]

    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(cell(i, c) for i, c in enumerate(r)) + " |" for r in rows])


def number(x, digits):
    return (x, f"{x:,.{digits}f}")


def short(x):
    """Of a share: .812."""
    return (x, f"{x:.3f}".lstrip("0"))


def spread(times, points):
    """Percentiles in ms; they are compared by the first."""
    return (times[points[0]], " / ".join(f"{times[p]:.{1 if times[p] >= 10 else 2}f}" for p in points))


def measured(report, name):
    return [(k, s, s["sets"][name]) for k, s in report["systems"].items() if name in s["sets"]]


def speed(report, name):
    """The tables of one corpus."""
    about = report["sets"][name]
    out = [f"**{about['chunks']:,} chunks** of {about['docs']:,} documents, {about['queries']:,} sentences of them as queries, 10 hits each:"]
    for mode in MODES:
        rows = []
        for _, s, r in measured(report, name):
            if f := r["found"].get(mode):
                row = [s["title"], spread(f["wall"], ["p50", "p95", "p99"]), spread(f["cpu"], ["p50", "p95", "p99"]), number(f["cpu"]["mean"], 2)]
                rows.append(row + ([short(f["recall"]) if "recall" in f else ""] if mode == "vector" else []))
        head = [mode, "p50 / p95 / p99, ms", "CPU, ms", "mean"] + (["recall@10"] if mode == "vector" else [])
        if rows:
            out.append(table(head, rows, [None, min, min, min, max][: len(head)]))
    rows = [
        [s["title"], number(r["ingest"]["wall"], 1), number(r["ingest"]["cpu"], 1), number(r["start"], 2)]
        + [number(r["memory"][m], 0) for m in ("anon", "rss")]
        + [number(r["disk"], 0)]
        for _, s, r in measured(report, name)
    ]
    head = ["", "ingest, s", "CPU, s", "start, s", "memory, MiB", "with mapped files", "on disk, MiB"]
    out.append(table(head, rows, [None] + [min] * 6))
    return out


def quality(report, names):
    """One table of nDCG@10, a row for each system and mode, with the mean where it has all."""
    out, rows = [], []
    for mode in MODES:
        for s in report["systems"].values():
            found = [s["sets"].get(n, {}).get("found", {}).get(mode) for n in names]
            if any(found):
                mean = sum(f["ndcg"] for f in found) / len(found) if all(found) else None
                rows.append([f"{s['title']}: {mode}"] + [short(f["ndcg"]) if f else "" for f in found] + [short(mean) if mean else ""])
    head = ["nDCG@10"] + [f"{n} ({report['sets'][n]['queries']})" for n in names] + ["mean"]
    out.append("**Judged collections** (number of questions), documents by their best chunk:")
    out.append(table(head, rows, [None] + [max] * (len(names) + 1)))
    return out


def behind(report, name, value, pick, what, text):
    """Says by how much ragctx in process is behind the best of the others, if it is."""
    all_ = {k: value(r) for k, _, r in measured(report, name) if value(r) is not None}
    others = {k: v for k, v in all_.items() if not k.startswith(OURS)}
    if OURS not in all_ or not others:
        return []
    best = pick(others, key=others.get)
    if pick(all_[OURS], others[best]) == all_[OURS]:
        return []
    return [f"{what}: {text(all_[OURS])}, {report['systems'][best]['title']} {text(others[best])}"]


def losses(report):
    """Where ragctx in process is not the best, by the figures above."""
    out = []
    for name, about in report["sets"].items():
        lost = []
        for mode in MODES:

            def found(key, point=None, mode=mode):
                return lambda r: (lambda f: f and (f.get(key) if point is None else f[key][point]))(r["found"].get(mode))

            if about["judged"]:
                lost += behind(report, name, found("ndcg"), max, mode, lambda x: f"{x:.3f}".lstrip("0"))
            else:
                for point in "p50", "p99":
                    lost += behind(report, name, found("wall", point), min, f"{mode} {point}", lambda x: f"{x:.2f} ms")
                lost += behind(report, name, found("recall"), max, "recall", lambda x: f"{x:.3f}".lstrip("0"))
        if not about["judged"]:
            for what, value, unit in (
                ("ingest, CPU", lambda r: r["ingest"]["cpu"], "s"),
                ("start", lambda r: r["start"], "s"),
                ("memory of its own", lambda r: r["memory"]["anon"], "MiB"),
                ("disk", lambda r: r["disk"], "MiB"),
            ):
                lost += behind(report, name, value, min, what, lambda x, unit=unit: f"{x:.1f} {unit}")
        if lost:
            out.append(f"- {name}: " + "; ".join(lost))
    return out


def page(report):
    judged = [n for n, s in report["sets"].items() if s["judged"]]
    out = [
        f"{report['date']}, {report['machine']}, load {min(report['load']):.1f} to {max(report['load']):.1f}, "
        f"ragctx {report['ragctx']}. Bold is the best of a column."
    ]
    for name in report["sets"]:
        if name not in judged:
            out += speed(report, name)
    if judged:
        out += quality(report, judged)
    if OURS in report["systems"]:
        out.append("**Where ragctx in process is behind the best of the others:**")
        out.append("\n".join(losses(report)) or "- nowhere in this run")
    how = []
    for s in report["systems"].values():
        line = f"- {s['title']} {s.get('version', '')}".rstrip()
        how.append(line + (f": {s['setup']}" if "setup" in s else "") + (f" (not run: {s['why']})" if "why" in s else ""))
    out += ["**How each is used:**", "\n".join(how)]
    return "\n\n".join(out)


def main():
    with open(sys.argv[1]) as f:
        text = page(json.load(f))
    print(text)
    for path in sys.argv[2:]:
        with open(path, encoding="utf-8") as f:
            before, rest = f.read().split(BEGIN)
        after = rest.split(END)[1]
        with open(path, "w", encoding="utf-8") as f:
            f.write(f"{before}{BEGIN}\n\n{text}\n\n{END}{after}")


if __name__ == "__main__":
    main()
