"""Row explanations: what a report shows of a wrong answer."""

from okn_benchmark.scoring.explain import explain
from okn_benchmark.table import iri, table, text, typed

KEY = table(
    ["gene", "label", "n"],
    [
        [iri("http://x.example/g/1"), text("TP53"), typed("12", "integer")],
        [iri("http://x.example/g/2"), text("BRCA1"), typed("7", "integer")],
        [iri("http://x.example/g/3"), text("EGFR"), typed("5", "integer")],
        [iri("http://x.example/g/4"), text("MYC"), typed("1", "integer")],
    ],
)


def test_each_row_stands_in_one_place() -> None:
    told = explain(KEY, b"n,gene,label\n12.0,1,TP53\n8,2,BRCA1\n0,9,KRAS\n5,3,EGFR\n").to_json()
    assert told["columns"] == [{"key": name, "answer": name} for name in ("gene", "label", "n")]
    assert told["matched"] == {
        "count": 2,
        "rows": [
            {"key_row": 1, "answer_row": 1, "cells": ["1", "TP53", "12.0"]},
            {"key_row": 3, "answer_row": 4, "cells": ["3", "EGFR", "5"]},
        ],
    }
    assert told["near"]["rows"] == [
        {"key_row": 2, "answer_row": 2, "column": "n", "expected": "7", "submitted": "8", "cells": ["2", "BRCA1", "8"]}
    ]
    assert told["missing"] == {
        "count": 1,
        "rows": [{"key_row": 4, "answer_row": None, "cells": ["http://x.example/g/4", "MYC", "1"]}],
    }
    assert told["extra"] == {"count": 1, "rows": [{"key_row": None, "answer_row": 3, "cells": ["9", "KRAS", "0"]}]}


def test_renamed_columns_are_shown_under_the_keys_names() -> None:
    told = explain(KEY, b"count,id,name\n12,1,TP53\n7,2,BRCA1\n5,3,EGFR\n2,4,MYC\n")
    assert told.columns == (("gene", "id"), ("label", "name"), ("n", "count"))
    assert [(miss.column, miss.expected, miss.submitted) for miss in told.near] == [("n", "1", "2")]


def test_the_limit_bounds_the_lists_and_not_the_counts() -> None:
    told = explain(KEY, b"gene,label,n\n" + b"9,x,0\n" * 50, limit=2)
    assert (told.extra_count, len(told.extra)) == (50, 2)
    assert (told.missing_count, len(told.missing)) == (4, 2)


def test_another_number_of_columns_leaves_rows_unpaired() -> None:
    told = explain(KEY, b"gene,label\n1,TP53\n")
    assert told.columns == (("gene", None), ("label", None), ("n", None))
    assert (told.matched_count, told.missing_count, told.extra_count) == (0, 4, 1)


def test_without_a_readable_answer_everything_is_missing() -> None:
    for submitted in (None, b'gene,label,n\n"1\n'):
        told = explain(KEY, submitted)
        assert (told.missing_count, told.extra_count) == (4, 0)


def test_a_repeated_key_matches_row_by_row() -> None:
    told = explain(
        KEY, b"gene,label,n\n" + b"".join(f"{r[0].value},{r[1].value},{r[2].value}\n".encode() for r in KEY.rows)
    )
    assert [(row.key_row, row.answer_row) for row in told.matched] == [(n, n) for n in range(1, 5)]
