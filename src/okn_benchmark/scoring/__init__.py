"""The judge: does a submitted table denote the same thing as the key? Arithmetic on values; no path, clock or socket.

Three questions, each with its function::

    judge(reference, submitted, settings, traps)    verdict.py    how right is it, and what kind of wrong
    explain(reference, submitted, settings, limit)  explain.py    which rows, and which cell of a near miss
    damaged(key), harmless(key, guards)             damage.py     is the judge itself wired rightly

``Key(reference, settings)`` with ``judge_key`` is the same judge for many answers to one question: what is worked out
about a key is worked out once. Nothing that is submitted makes any of these raise.

How to read the folder, from the bytes up:

1. ``answer.py``: bytes to rows of texts, or a sentence that says why not. What CSV leaves open is settled there.
2. ``number.py``, ``iri.py``, ``moment.py``: when are two spellings one value? Each gives a *key*, a string that is
   equal exactly when the values are. ``cells.py`` says which of them a reference cell follows.
3. ``key_column.py``: a reference column turned into small integers, its *classes*. Reading a submitted text gives the
   class it stands for, none, or (where a column mixes kinds) several. From here on everything compares integers. The
   rules look at the whole column, so this is where their *guards* stand: where the key itself cannot tell two values
   apart, the rule that would merge them stands down, and says so.
4. ``rows.py``: how many rows find a row of their own on the other side, and whether in order.
5. ``columns.py``, ``search.py`` (over ``readings.py``): which column is which when the names do not say. One assignment
   for the whole table, found by branch and bound.
6. ``compare.py`` does 3 to 5 once per tier: *strict* (texts are equal) and *normalized* (values are).
7. ``diagnosis.py`` takes a wrong answer, repairs it in one way after another (``relaxed.py``, ``units.py``) and names
   the repairs that make it exact. No label changes a score.

The contract behind all this has a number, ``settings.CONTRACT``, and stands in every verdict. A change that can move a
score raises it and is listed under "Scores" in the changelog. A dispute is settled by a file in
``tests/cases/scoring``; the laws that hold for any table are in ``tests/property``.
"""
