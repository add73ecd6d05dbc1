#!/usr/bin/env python3
"""Three ragctx nodes over PostgreSQL with two synchronous replicas, under load, while one fault after another happens.

    tools/cluster/faults.py --ragctx BINARY [--weaviate PROGRAM] [--rest 12] [--only kill-leader,cut-leader-primary]

Each server has a network namespace of its own, so that two of them can be cut from each other; this needs root, the command ip and the
programs of PostgreSQL. The journal of all writes is kept by this process alone. It reports the questions and writes during each fault,
and fails if an acknowledged write is lost, if something deleted is shown, if an answer has another user's memory, or if the nodes
that no fault concerns leave a question without an answer for more than two seconds.
"""

import argparse
import concurrent.futures
import ctypes
import glob
import http.client
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

KEY = "rgx_00000000_" + 43 * "A"
RAGCTX, POSTGRES, WEAVIATE, HERE = "r", "p", "w", "10.77.0.1"
ADDRESS = {f"{kind}{i}": f"10.77.0.{base + i}" for kind, base in ((RAGCTX, 10), (POSTGRES, 20), (WEAVIATE, 30)) for i in range(3)}
WORD = re.compile(r"zq\d+x\d+[du]\d")
SPACE = f"rf{os.getpid()}"  # the beginning of the names of namespaces


def run(*command, check=True):
    done = subprocess.run(command, capture_output=True, text=True)
    if check and done.returncode:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr or done.stdout}")
    return done.stdout.strip()


def until(what, ok, limit=90):
    end = time.time() + limit
    while not ok():
        if time.time() > end:
            raise RuntimeError("timed out: " + what)
        time.sleep(0.2)


class Network:
    """A bridge in a namespace of its own, where the load runs, and a namespace for each server."""

    def __init__(self, names):
        self.names = names
        run("ip", "netns", "add", SPACE)
        self.ip(None, "link", "set", "lo", "up")
        self.ip(None, "link", "add", "hub", "type", "bridge")
        self.ip(None, "addr", "add", HERE + "/24", "dev", "hub")
        self.ip(None, "link", "set", "hub", "up")
        with open(f"/run/netns/{SPACE}") as space:
            if ctypes.CDLL(None, use_errno=True).setns(space.fileno(), 0):
                raise OSError(ctypes.get_errno(), "setns")
        for name in names:
            run("ip", "netns", "add", SPACE + name)
            self.ip(None, "link", "add", name, "type", "veth", "peer", "name", "eth0", "netns", SPACE + name)
            self.ip(None, "link", "set", name, "master", "hub", "up")
            self.ip(name, "link", "set", "lo", "up")
            self.ip(name, "addr", "add", ADDRESS[name] + "/24", "dev", "eth0")
            self.ip(name, "link", "set", "eth0", "up")

    def ip(self, name, *args):
        return run("ip", "-n", SPACE + (name or ""), *args)

    def cut(self, a, b):
        """Sends what two servers send each other to an address that nobody has."""
        for near, far in ((a, b), (b, a)):
            self.ip(near, "neigh", "replace", ADDRESS[far], "lladdr", "02:00:00:00:00:01", "dev", "eth0", "nud", "permanent")

    def join(self, a, b):
        for near, far in ((a, b), (b, a)):
            self.ip(near, "neigh", "del", ADDRESS[far], "dev", "eth0")

    def link(self, name, up):
        self.ip(None, "link", "set", name, "up" if up else "down")

    def close(self):
        for name in [*self.names, ""]:
            run("ip", "netns", "del", SPACE + name, check=False)


class Cluster:
    def __init__(self, options):
        self.options, self.dir = options, tempfile.mkdtemp(prefix="faults-")
        os.chmod(self.dir, 0o755)
        self.nodes = [f"{RAGCTX}{i}" for i in range(3)]
        self.databases = [f"{POSTGRES}{i}" for i in range(3)]
        self.indexes = [f"{WEAVIATE}{i}" for i in range(3)] if options.weaviate else []
        self.running, self.primary, self.keep = {}, "p0", set()
        self.bin = os.path.dirname(sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"))[-1])
        self.net = Network(self.nodes + self.databases + self.indexes)

    def start(self, name, command, env=None, user=None):
        log = open(f"{self.dir}/{name}.log", "ab")
        as_user = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"] if user else []
        self.running[name] = subprocess.Popen(
            ["ip", "netns", "exec", SPACE + name, *as_user, *command], env={**os.environ, **(env or {})}, stdout=log, stderr=log,
            cwd=self.dir)

    def kill(self, name):
        self.running[name].kill()
        self.running[name].wait()

    # PostgreSQL

    def postgres(self, *command):
        return run("setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", *command)

    def data(self, name):
        return f"{self.dir}/pg/{name}"

    def start_postgres(self, name):
        others = ",".join(d for d in self.databases if d != name)
        self.start(name, [
            f"{self.bin}/postgres", "-D", self.data(name), "-h", ADDRESS[name], "-k", "", "-c", "max_connections=200",
            "-c", "shared_buffers=64MB", "-c", f"synchronous_standby_names=ANY 1 ({others})", "-c", f"cluster_name={name}",
            "-c", "wal_sender_timeout=5s", "-c", "wal_receiver_timeout=5s", "-c", "wal_retrieve_retry_interval=500ms",
            "-c", "wal_keep_size=1GB", "-c", "log_min_messages=fatal",
        ], user="postgres")

    def copy_of(self, name):
        """Makes a database a replica of the primary."""
        shutil.rmtree(self.data(name), ignore_errors=True)
        source = f"host={ADDRESS[self.primary]} user=ragctx dbname=postgres application_name={name}"
        run("ip", "netns", "exec", SPACE + name, "setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups",
            f"{self.bin}/pg_basebackup", "-D", self.data(name), "-d", source, "-R", "-c", "fast", "--no-sync")
        self.start_postgres(name)

    def sql(self, name, statement):
        return run("ip", "netns", "exec", SPACE, f"{self.bin}/psql", "-XAtq", "-h", ADDRESS[name], "-U", "ragctx", "-d", "postgres",
                   "-c", statement, check=False)

    def replicas(self):
        return self.sql(self.primary, "SELECT count(*) FROM pg_stat_replication WHERE state='streaming'")

    def start_databases(self):
        os.mkdir(f"{self.dir}/pg")
        shutil.chown(f"{self.dir}/pg", "postgres", "postgres")
        self.postgres(f"{self.bin}/initdb", "-D", self.data("p0"), "-U", "ragctx", "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync")
        with open(self.data("p0") + "/pg_hba.conf", "a") as f:
            f.write("host all all 10.77.0.0/24 trust\nhost replication all 10.77.0.0/24 trust\n")
        self.start_postgres("p0")
        until("the primary starts", lambda: self.sql("p0", "SELECT 1") == "1")
        for name in ("p1", "p2"):
            self.copy_of(name)
        until("the replicas follow", lambda: self.replicas() == "2")
        self.sql("p0", "CREATE DATABASE ragctx")

    def promote(self):
        """Promotes the replica that has the most of the log."""
        standbys = [d for d in self.databases if d != self.primary]
        place = lambda d: int(self.sql(d, "SELECT pg_wal_lsn_diff(pg_last_wal_receive_lsn(), '0/0')::bigint") or 0)
        self.primary, other = sorted(standbys, key=place, reverse=True)
        self.postgres(f"{self.bin}/pg_ctl", "-D", self.data(self.primary), "promote")
        self.kill(other)
        self.copy_of(other)

    # Weaviate

    def start_index(self, name):
        others = [w for w in self.indexes if w != name and w in self.running and self.running[w].poll() is None]
        self.start(name, [self.options.weaviate, "--scheme", "http", "--host", ADDRESS[name], "--port", "8080"], {
            "AUTHENTICATION_ANONYMOUS_ACCESS_ENABLED": "true", "PERSISTENCE_DATA_PATH": f"{self.dir}/{name}",
            "DEFAULT_VECTORIZER_MODULE": "none", "ENABLE_MODULES": "", "DISABLE_TELEMETRY": "true", "GO_PROFILING_DISABLE": "true",
            "LOG_LEVEL": "error", "GOMEMLIMIT": "2GiB",
            "CLUSTER_HOSTNAME": name, "CLUSTER_BIND_ADDR": ADDRESS[name], "CLUSTER_ADVERTISE_ADDR": ADDRESS[name],
            "CLUSTER_GOSSIP_BIND_PORT": "7100", "CLUSTER_DATA_BIND_PORT": "7101",
            "CLUSTER_JOIN": f"{ADDRESS[others[0]]}:7100" if others else "",
            "RAFT_JOIN": ",".join(self.indexes),
            "RAFT_BOOTSTRAP_EXPECT": "3", "MEMBERLIST_FAST_FAILURE_DETECTION": "true",
        })

    def index_ready(self, name):
        return ask(ADDRESS[name], 8080, "GET", "/v1/.well-known/ready", limit=2)[0] == 200

    # ragctx

    def start_node(self, name):
        hosts = ",".join(ADDRESS[d] for d in self.databases)
        command = [self.options.ragctx, "serve", "--addr", ADDRESS[name] + ":7700", "--insecure-http", "--data", f"{self.dir}/{name}",
                   "--store", f"postgres://ragctx@{hosts}/ragctx?sslmode=disable&target_session_attrs=read-write"]
        if self.indexes:
            command += ["--index", "weaviate://" + ",".join(ADDRESS[w] for w in self.indexes)]
        self.start(name, command, {"RAGCTX_FIRST_KEY": KEY, "GOMEMLIMIT": "1GiB"})

    def status(self, name):
        return node(name, "GET", "/v1/status", limit=3)[1] or {}

    def leader(self):
        found = []
        until("a node leads", lambda: found.extend(n for n in self.nodes if self.status(n).get("leads")) or found)
        return found[0]

    def follower(self):
        lead = self.leader()
        return next(n for n in self.nodes if n != lead)

    def supervise(self, life):
        """Starts nodes that have ended by themselves, as a supervisor does."""
        while not life.wait(0.5):
            for name in self.nodes:
                if name not in self.keep and self.running[name].poll() is not None:
                    self.start_node(name)

    def begin(self):
        self.start_databases()
        for name in self.indexes:
            self.start_index(name)
        for name in self.indexes:
            until(name + " is ready", lambda: self.index_ready(name), 180)
        for name in self.nodes:
            self.start_node(name)
            until(name + " answers", lambda: self.status(name))

    def end(self):
        for p in self.running.values():
            p.send_signal(signal.SIGCONT)
            p.kill()
        time.sleep(1)
        self.net.close()
        if not self.options.keep:
            shutil.rmtree(self.dir)


def ask(host, port, method, path, body=None, limit=10.0, key=None):
    """Returns the status, 0 without an answer, and the decoded answer."""
    c = http.client.HTTPConnection(host, port, timeout=limit)
    try:
        c.request(method, path, json.dumps(body) if body is not None else None,
                  {"Content-Type": "application/json", **({"Authorization": "Bearer " + key} if key else {})})
        resp = c.getresponse()
        text = resp.read()
        try:
            return resp.status, json.loads(text) if text else None
        except ValueError:
            return resp.status, None
    except (OSError, http.client.HTTPException):
        return 0, None
    finally:
        c.close()


def node(name, method, path, body=None, limit=10.0):
    return ask(ADDRESS[name], 7700, method, path, body, limit, KEY)


class Load:
    """Writes and questions at fixed rates, and the journal of what was acknowledged."""

    def __init__(self, cluster):
        self.c, self.lock, self.life = cluster, threading.Lock(), threading.Event()
        self.journal = open(f"{cluster.dir}/journal", "w")
        self.words = {}  # word: [live since, gone since]; a time is None while unknown
        self.held = {}  # (kind, id, user): word, of what was acknowledged; "" is deleted
        self.asked, self.wrote, self.problems = [], [], []
        self.fault, self.away = "none", set()

    def problem(self, text):
        with self.lock:
            self.problems.append(f"{time.time():.1f} {self.fault}: {text}")
        print("PROBLEM", self.problems[-1], flush=True)

    def writes(self, writer):
        dice, lives, n, next_at = random.Random(writer), {}, 0, time.time()
        while not self.life.is_set():
            n, next_at = n + 1, next_at + 1 / self.c.options.writes
            time.sleep(max(0, next_at - time.time()))
            if time.time() > next_at + 1:
                next_at = time.time()
            slot, kind = dice.randrange(25), dice.choice(["document", "document", "memory", "turn"])
            user = f"u{dice.randrange(3)}" if kind != "document" else ""
            ident = f"{kind[0]}{writer}-{slot}-{user}-{lives.setdefault((kind, slot, user), 0)}"
            if kind == "turn":
                ident += f"-{n}"  # is immutable
            key, to, fault = (kind, ident, user), dice.choice(self.c.nodes), self.fault
            before = self.held.get(key, "")
            word = f"zq{writer}x{n}" + (user or "d0")
            if before and dice.random() < 0.35:
                word, path = "", f"/v1/{'documents' if kind == 'document' else 'memories'}/{ident}"
                request = ("DELETE", path, None)
            elif kind == "document":
                request = ("PUT", f"/v1/documents/{ident}", {"text": f"# Report {n}\n\nThe word of the hour is {word}."})
            elif kind == "memory":
                request = ("POST", "/v1/memories", {"id": ident, "content": f"The report of the hour is {word}.", "user_id": user})
            else:
                request = ("POST", "/v1/turns", {"id": ident, "user_id": user, "session_id": f"s{writer}{user}",
                                                 "prompt": f"My ship is called {word} these days.", "response": "I will."})
            with self.lock:
                if before:
                    self.words[before][1] = None  # from now on either holds
                if word:
                    self.words[word] = [None, 0]
            began = time.time()
            status, _ = node(to, *request, limit=20)
            took, ok = time.time() - began, 200 <= status < 300
            with self.lock:
                self.journal.write(json.dumps([began, took, to, fault, key, before, word, status]) + "\n")
                self.wrote.append((fault, took, ok))
                if ok:
                    self.held[key] = word
                    if before:
                        self.words[before][1] = time.time()
                    if word:
                        self.words[word] = [time.time(), 0]
                else:
                    self.held.pop(key, None)
                    lives[kind, slot, user] += 1

    def questions(self, name, asker):
        dice, next_at = random.Random(100 + asker), time.time()
        while not self.life.is_set():
            next_at += 1 / self.c.options.questions
            time.sleep(max(0, next_at - time.time()))
            if time.time() > next_at + 1:
                next_at = time.time()
            with self.lock:
                live = [w for w, (since, gone) in self.words.items() if since and gone == 0]
            word = dice.choice(live[-200:]) if live else "hour"
            user = word[-2:] if "u" in word else f"u{dice.randrange(3)}"
            if dice.random() < 0.3:
                user = f"u{dice.randrange(3)}"
            self.ask(name, word, user)

    def ask(self, name, word, user):
        fault, concerned, began = self.fault, name in self.away, time.time()
        question = {"query": f"What of {word}, the word of the hour?", "user_id": user, "max_results": 50}
        status, answer = node(name, "POST", "/v1/search", question, limit=5)
        took = time.time() - began
        found = {w for it in (answer or {}).get("items") or [] for w in WORD.findall(it.get("content", ""))} if status == 200 else set()
        degraded = bool((answer or {}).get("degraded"))
        with self.lock:
            self.asked.append((fault, began, took, name, status == 200, degraded, concerned or name in self.away))
            states = {w: tuple(self.words.get(w, (None, 0))) for w in found | {word}}
        for w in found:
            if "u" in w and w[-2:] != user:
                self.problem(f"{name} shows {w} to {user}")
            if states[w][1] and states[w][1] < began:
                self.problem(f"{name} shows {w}, deleted {began - states[w][1]:.2f} s before")
        since, gone = states.get(word, (None, 0))
        mine = "d" in word or word[-2:] == user
        if status == 200 and not degraded and mine and word not in found and since and since < began and gone == 0:
            self.problem(f"{name} does not find {word}, written {began - since:.2f} s before")

    def compare(self, kind, ident, user, word):
        """Requires that every node has a word, or not the object if the word is empty."""
        path = f"/v1/documents/{ident}" if kind == "document" else f"/v1/memories/{ident}?user_id={user}"
        for name in self.c.nodes:
            status, answer = 0, None
            for _ in range(5):
                status, answer = node(name, "GET", path)
                if status in (200, 404):
                    break
                time.sleep(1)
            # A document is read without its text, which the questions look for.
            if status != (200 if word else 404) or word and kind != "document" and word not in json.dumps(answer):
                self.problem(f"{name} answers {status} to {ident}, which has {word or 'been deleted'}")

    def verify(self):
        """Requires that every node has what was acknowledged, and nothing else."""
        held = list(self.held.items())
        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            list(pool.map(lambda h: self.compare(*h[0], h[1]), held))
            live = [(word, user) for (_, _, user), word in held if word]
            some = random.Random(1).sample(live, min(300, len(live)))
            list(pool.map(lambda h: [self.ask(n, h[0], h[1] or "u0") for n in self.c.nodes], some))
        return len(held)


def quantile(values, q):
    values = sorted(values)
    return values[min(len(values) - 1, int(q * len(values)))] if values else 0.0


def faults(c, load):
    """Yields each fault: its name, the nodes that it concerns, and what begins and ends it."""
    def killed(name):
        def begin():
            c.keep.add(name)
            c.kill(name)
        def end():
            c.start_node(name)
            c.keep.discard(name)
        return begin, end

    def hung(name):
        pid = c.running[name].pid  # ip execs the program
        return lambda: os.kill(pid, signal.SIGSTOP), lambda: os.kill(pid, signal.SIGCONT)

    def between(a, b):
        return lambda: c.net.cut(a, b), lambda: c.net.join(a, b)

    def isolated(name):
        return lambda: c.net.link(name, False), lambda: c.net.link(name, True)

    yield "none", [], lambda: None, lambda: None, 20
    for i in range(5):
        lead = c.leader()
        victim = lead if i % 2 == 0 else next(n for n in c.nodes if n != lead)
        yield f"kill-{'leader' if victim == lead else 'follower'}", [victim], *killed(victim), 8
    lead = c.leader()
    yield "hang-leader", [lead], *hung(lead), 25
    lead = c.leader()
    yield "cut-leader-primary", [lead], *between(lead, c.primary), 35
    follower = c.follower()
    yield "cut-follower-primary", [follower], *between(follower, c.primary), 15
    yield "cut-leader-follower", [], *between(c.leader(), c.follower()), 15
    lead = c.leader()
    yield "isolate-leader", [lead], *isolated(lead), 30
    old = c.primary
    def lose_primary():
        c.kill(old)
        c.promote()
    yield "kill-primary", [], lose_primary, lambda: c.copy_of(old), 15
    standby = next(d for d in c.databases if d != c.primary)
    yield "kill-replica", [], lambda: c.kill(standby), lambda: c.start_postgres(standby), 10
    for w in c.indexes[1:]:
        def back():
            c.start_index(w)
            until("it is back", lambda: c.index_ready(w), 120)
        yield "kill-index", [], lambda: c.kill(w), back, 20
    if c.indexes:
        yield "cut-leader-index", [], *between(c.leader(), c.indexes[0]), 20


def report(load):
    print(f"\n{'fault':22}{'questions':>10}{'failed':>8}{'degraded':>9}{'p50':>8}{'p99':>8}{'gap':>7}"
          f"{'writes':>8}{'failed':>8}{'p99':>8}   (ms; gap in s)")
    names = list(dict.fromkeys(f for f, *_ in load.asked))
    for name in names:
        rows = [r for r in load.asked if r[0] == name]
        others = [r for r in rows if not r[6]]
        good = [r[2] * 1000 for r in others if r[4]]
        writes = [(t, ok) for f, t, ok in load.wrote if f == name]
        gap = 0.0
        for at in load.c.nodes:
            ends = sorted(r[1] + r[2] for r in others if r[3] == at and r[4])
            begins = sorted(r[1] for r in others if r[3] == at)
            # the time from each question to the next answer of that node
            last = max((r[1] + r[2] for r in others if r[3] == at), default=0)
            for b in begins:
                after = [e for e in ends if e >= b]
                gap = max(gap, (after[0] if after else last) - b)
        acknowledged = [t * 1000 for t, ok in writes if ok]
        print(f"{name:22}{len(others):10}{sum(not r[4] for r in others):8}{sum(r[5] for r in others):9}{quantile(good, .5):8.0f}"
              f"{quantile(good, .99):8.0f}{gap:7.2f}{len(writes):8}{len(writes) - len(acknowledged):8}{quantile(acknowledged, .99):8.0f}")
        if gap > 2 and name != "verify":
            load.problem(f"{name}: another node answered no question for {gap:.1f} s")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--ragctx", required=True)
    p.add_argument("--weaviate")
    p.add_argument("--only", default="")
    p.add_argument("--rest", type=float, default=12)
    p.add_argument("--writes", type=float, default=4, help="a second, of each of 3 writers")
    p.add_argument("--questions", type=float, default=3, help="a second, to each of 3 nodes")
    p.add_argument("--keep", action="store_true", help="keep logs and journal")
    options = p.parse_args()
    c = Cluster(options)
    problems = 1
    try:
        c.begin()
        load = Load(c)
        threads = [threading.Thread(target=load.writes, args=(w,)) for w in range(3)]
        threads += [threading.Thread(target=load.questions, args=(n, i)) for i, n in enumerate(c.nodes)]
        threads.append(threading.Thread(target=c.supervise, args=(load.life,)))
        for t in threads:
            t.start()
        began = time.time()
        try:
            for name, away, begin, end, lasts in faults(c, load):
                if options.only and name not in options.only.split(",") and name != "none":
                    continue
                print(f"{time.time() - began:6.0f} s  {name} {' '.join(away)}", flush=True)
                load.away, load.fault = set(away), name
                begin()
                time.sleep(lasts)
                end()
                load.fault = "after " + name
                time.sleep(options.rest)
                load.away = set()
        finally:
            load.life.set()
            for t in threads:
                t.join()
        load.fault = "verify"
        until("all nodes answer", lambda: all(c.status(n) for n in c.nodes))
        time.sleep(5)
        count = load.verify()
        report(load)
        problems = len(load.problems)
        print(f"\n{sum(ok for _, _, ok in load.wrote)} writes acknowledged, {count} objects compared on three nodes, "
              f"{len(load.asked)} questions, {problems} problems in {time.time() - began:.0f} s")
    finally:
        c.end()
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
