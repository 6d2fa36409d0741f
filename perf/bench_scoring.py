"""How fast the judge is, beside reading the same files and beside the same comparison in pandas and duckdb.

    python perf/bench_scoring.py             every measurement, with the bars they are held against
    python perf/bench_scoring.py --quick     without the million rows

Each measurement is a process of its own; seconds are wall time of the whole process, memory is its peak. Nothing here
is a test: a loaded machine fails no build. Exit code 1 when a bar was missed.
"""

import argparse
import csv
import importlib.util
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from decimal import Decimal
from pathlib import Path

COLUMNS = ("disease", "label", "score", "studies", "fips")
XSD = "http://www.w3.org/2001/XMLSchema#"
WORDS = ("acute", "aortic", "benign", "chronic", "familial", "juvenile", "severe", "systemic")


def key_rows(count, seed):
    """An IRI, a label, a decimal, an integer and a code with leading zeros in every row."""
    dice = random.Random(seed)
    for index in range(count):
        label = f"{dice.choice(WORDS)} {dice.choice(WORDS)} disorder {index}"
        score = repr(dice.random() * 10 ** dice.randrange(-2, 4))
        yield index, label, score, str(dice.randrange(1, 400)), f"{dice.randrange(1, 57):02}{dice.randrange(1, 200):03}"


def iri(index):
    return f"http://purl.obolibrary.org/obo/MONDO_{index:07}"


def write_truth(path, rows):
    bindings = [
        {
            "disease": {"type": "uri", "value": iri(index)},
            "label": {"type": "literal", "value": label},
            "score": {"type": "literal", "value": score, "datatype": XSD + "double"},
            "studies": {"type": "literal", "value": studies, "datatype": XSD + "integer"},
            "fips": {"type": "literal", "value": fips},
        }
        for index, label, score, studies, fips in rows
    ]
    path.write_text(json.dumps({"head": {"vars": COLUMNS}, "results": {"bindings": bindings}}), encoding="utf-8")


def write_answer(path, rows, style, seed=1):
    """``same`` as the key; ``spelled``: shuffled, short IRIs, other spellings; ``other``: columns renamed as well."""
    dice = random.Random(seed)
    rows = list(rows)
    if style != "same":
        dice.shuffle(rows)
    with path.open("w", encoding="utf-8", newline="") as stream:
        out = csv.writer(stream, lineterminator="\n")
        out.writerow(COLUMNS if style in {"same", "spelled"} else ("area", "n", "value", "name", "id"))
        for index, label, score, studies, fips in rows:
            if style == "same":
                out.writerow((iri(index), label, score, studies, fips))
            else:
                wrong = "?" if style == "wrong" and dice.random() < 0.1 else ""
                cells = (f"MONDO:{index:07}", label + wrong, f"{Decimal(score):e}", studies + ".0", fips)
                out.writerow(cells if style == "spelled" else cells[::-1])


def rejudge(folder):
    """What a rescore does: every truth once, every answer, one verdict each."""
    from okn_benchmark.jobs.score import read_key
    from okn_benchmark.scoring.verdict import Key, Settings, judge_key

    exact = 0
    for question in sorted(folder.iterdir()):
        table, _ = read_key((question / "ground_truth.json").read_bytes(), "truth")
        key = Key(table, Settings())
        for answer in sorted(question.glob("answer-*.csv")):
            exact += judge_key(key, answer.read_bytes()).exact
    return exact


def read_only(folder):
    """The floor: both files of every attempt parsed and dropped."""
    for question in sorted(folder.iterdir()):
        for answer in sorted(question.glob("answer-*.csv")):
            json.loads((question / "ground_truth.json").read_bytes())
            with answer.open(encoding="utf-8", newline="") as stream:
                list(csv.reader(stream))


def read_once(folder):
    """The same with each key parsed once for all its attempts."""
    for question in sorted(folder.iterdir()):
        json.loads((question / "ground_truth.json").read_bytes())
        for answer in sorted(question.glob("answer-*.csv")):
            with answer.open(encoding="utf-8", newline="") as stream:
                list(csv.reader(stream))


def judge_one(folder):
    """One key and one answer, both from disk."""
    from okn_benchmark.jobs.score import read_key
    from okn_benchmark.scoring.verdict import judge

    table, _ = read_key((folder / "ground_truth.json").read_bytes(), "truth")
    started = time.perf_counter()
    verdict = judge(table, (folder / "answer.csv").read_bytes())
    print(f"judge_s={time.perf_counter() - started:.3f}")
    return f"exact={verdict.exact} f1={verdict.f1:.4f}"


def judge_built(folder):
    """The same with a key that is built from the CSV beside it, so that JSON takes no part in time or memory."""
    from okn_benchmark.scoring.verdict import judge
    from okn_benchmark.table import XSD as NS
    from okn_benchmark.table import Table, Term

    made = {}

    def term(kind, value, datatype=""):
        return made.setdefault((kind, value), Term(kind, value, datatype))

    with (folder / "key.csv").open(encoding="utf-8", newline="") as stream:
        reader = csv.reader(stream)
        next(reader)
        rows = tuple(
            (
                Term("uri", a),
                Term("literal", b),
                Term("literal", c, NS + "double"),
                term("literal", d, NS + "integer"),
                term("literal", e),
            )
            for a, b, c, d, e in reader
        )
    table = Table(COLUMNS, rows)
    print(f"key_mib={peak_mib():.0f}")
    started = time.perf_counter()
    verdict = judge(table, (folder / "answer.csv").read_bytes())
    print(f"judge_s={time.perf_counter() - started:.3f}")
    return f"exact={verdict.exact} f1={verdict.f1:.4f}"


def read_one(folder):
    """The floor for one answer: its CSV into tuples."""
    started = time.perf_counter()
    with (folder / "answer.csv").open(encoding="utf-8", newline="") as stream:
        rows = [tuple(row) for row in csv.reader(stream)]
    print(f"read_s={time.perf_counter() - started:.3f}")
    return len(rows)


def with_pandas(folder):
    """Local names, six digits, multiset overlap: what the judge does for this table, without its other rules."""
    import pandas as pd

    def load(path):
        frame = pd.read_csv(path, dtype=str, keep_default_na=False)
        if tuple(frame.columns) != COLUMNS:  # told, not found: no search for columns here
            frame = frame[frame.columns[::-1]]
            frame.columns = COLUMNS
        frame["disease"] = frame["disease"].str.replace(r"^.*[/#]", "", regex=True).str.replace(":", "_")
        frame["score"] = frame["score"].astype(float).map("{:.6g}".format)
        frame["studies"] = frame["studies"].astype(float)
        return frame.value_counts()

    hits = 0
    for path in answers(folder):
        want, have = load(path.parent / "key.csv"), load(path)
        hits += int(pd.concat([want, have], axis=1).min(axis=1, skipna=False).fillna(0).sum())
    return hits


def with_duckdb(folder):
    """The same in SQL."""
    import duckdb

    def load(path):
        with path.open(encoding="utf-8") as stream:
            told = next(csv.reader(stream))
        a, b, c, d, e = (f"column{n}" for n in (range(5) if tuple(told) == COLUMNS else range(4, -1, -1)))
        return f"""select regexp_replace(replace({a}, ':', '_'), '^.*[/#]', '') a, {b} b,
            format('{{:.6g}}', {c}::double) c, {d}::double d, {e} e, count(*) n
            from read_csv('{path}', header=false, skip=1, all_varchar=true) group by all"""

    hits = 0
    for path in answers(folder):
        want, have = load(path.parent / "key.csv"), load(path)
        sql = f"select sum(least(x.n, y.n)) from ({want}) x join ({have}) y using (a, b, c, d, e)"
        hits += duckdb.connect().execute(sql).fetchone()[0] or 0
    return hits


def answers(folder):
    found = sorted(folder.glob("*/answer-*.csv"))
    return found or [folder / "answer.csv"]


JOBS = {
    job.__name__: job
    for job in (rejudge, read_only, read_once, judge_one, judge_built, read_one, with_pandas, with_duckdb)
}


def peak_mib():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def run(job, folder):
    """One job in a process of its own: seconds, peak MiB, and what it printed."""
    started = time.perf_counter()
    done = subprocess.run([sys.executable, __file__, "--job", job, str(folder)], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{job} failed: {done.stderr[-2000:]}")
    said = dict(part.split("=", 1) for part in done.stdout.split() if "=" in part)
    return time.perf_counter() - started, float(said["peak_mib"]), said


def many(top, missed):
    for question in range(36):
        folder = top / f"q{question:02}"
        folder.mkdir()
        rows = list(key_rows(100, question))
        write_truth(folder / "ground_truth.json", rows)
        write_answer(folder / "key.csv", rows, "same")
        for attempt in range(15):
            style = ("same", "spelled", "other", "wrong")[attempt % 4]
            write_answer(folder / f"answer-{attempt}.csv", rows, style, attempt)
    floor, _, _ = run("read_only", top)
    once, _, _ = run("read_once", top)
    took, mib, said = run("rejudge", top)
    line("540 attempts of 100 rows, both files of each read", floor, None)
    line("540 attempts of 100 rows, each key read once", once, None)
    line(f"540 attempts of 100 rows, judged ({said['result']} exact)", took, mib)
    bar(missed, "540 attempts in 3 s", took, 3)
    bar(missed, "540 attempts, times reading", took / floor, 4)
    beside(top, "540 attempts")


def one(top, count, style, missed, seconds=None, times=None, memory=None):
    folder = top / f"{count}-{style}"
    folder.mkdir()
    rows = list(key_rows(count, 7))
    write_answer(folder / "key.csv", rows, "same")
    write_answer(folder / "answer.csv", rows, style)
    del rows
    size = (folder / "answer.csv").stat().st_size / 2**20
    _, _, floor = run("read_one", folder)
    _, mib, said = run("judge_built", folder)
    judged, read = float(said["judge_s"]), float(floor["read_s"])
    share = mib - float(said["key_mib"])
    print(
        f"  {count:,} × 5 {style}: CSV {size:.0f} MiB, read in {read:.2f} s, judged in {judged:.2f} s "
        f"({judged / read:.1f}x); {said['result']}\n"
        f"    peak {mib:.0f} MiB ({mib / size:.1f}x its size), {share:.0f} of them the judge's"
    )
    if seconds:
        bar(missed, f"{count:,} × 5 {style} in {seconds} s", judged, seconds)
    if times:
        bar(missed, f"{count:,} × 5 {style}, times reading", judged / read, times)
    if memory:
        bar(missed, f"{count:,} × 5 {style}, times its size", mib / size, memory)
    if style == "spelled":
        beside(folder, f"{count:,} × 5")


def renamed(missed, width=10, count=1000):
    """Ten columns that look alike, under other names and in another order."""
    from okn_benchmark.scoring.answer import Answer
    from okn_benchmark.scoring.answer import write_answer as spell
    from okn_benchmark.scoring.verdict import judge
    from okn_benchmark.table import table, typed

    for values in (2, 5, 1000):
        dice = random.Random(values)
        rows = [[str(dice.randrange(values)) for _ in range(width)] for _ in range(count)]
        key = table([f"c{n}" for n in range(width)], [[typed(v, "integer") for v in row] for row in rows])
        order = dice.sample(range(width), width)
        for what in ("right", "half wrong"):
            given = [tuple(row[at] for at in order) for row in rows]
            if what != "right":
                given = [row if n % 2 else row[::-1] for n, row in enumerate(given)]
            dice.shuffle(given)
            data = spell(Answer(columns=tuple(f"x{n}" for n in range(width)), rows=given))
            started = time.perf_counter()
            verdict = judge(key, data)
            took = time.perf_counter() - started
            spent = " (budget spent)" if any(g.guard == "assignment_budget" for g in verdict.guards) else ""
            line(f"ten renamed columns of {values} values × {count}, {what}: f1 {verdict.f1:.3f}{spent}", took, None)
            bar(missed, "ten renamed columns in 1 s", took, 1)


def beside(folder, what):
    for job, library in (("with_pandas", "pandas"), ("with_duckdb", "duckdb")):
        if importlib.util.find_spec(library) is None:
            print(f"  {what}: {library} is not installed")
            continue
        took, mib, said = run(job, folder)
        line(f"{what}, same comparison in {library} ({said['result']} rows)", took, mib)


def line(what, seconds, mib):
    print(f"  {what}: {seconds:.2f} s" + (f", peak {mib:.0f} MiB" if mib else ""))


def bar(missed, what, found, limit):
    if found > limit:
        missed.append(f"{what}: {found:.2f}, the bar is {limit}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--job", nargs=2, metavar=("NAME", "FOLDER"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.job:
        print(f"result={JOBS[args.job[0]](Path(args.job[1]))}".replace(" ", "_"))
        print(f"peak_mib={peak_mib():.0f}")
        return 0
    missed = []
    with tempfile.TemporaryDirectory() as tmp:
        top = Path(tmp, "many")
        top.mkdir()
        many(top, missed)
        renamed(missed)
        one(Path(tmp), 100_000, "same", missed, seconds=2)
        one(Path(tmp), 100_000, "spelled", missed, seconds=2)
        one(Path(tmp), 100_000, "other", missed, seconds=2)
        if not args.quick:
            one(Path(tmp), 1_000_000, "same", missed, times=8, memory=12)
            one(Path(tmp), 1_000_000, "spelled", missed)  # every cell of three columns by the slow rules: shown, no bar
    for text in missed:
        print(f"MISSED {text}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
