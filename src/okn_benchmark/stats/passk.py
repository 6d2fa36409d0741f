"""pass@k and pass^k: the unbiased combinatorial estimates from ``n`` attempts of which ``c`` were right.

``rate ** k`` is biased upwards for pass^k at the few attempts a study can pay for, so it is not used.
"""

import math


def pass_at_k(n: int, c: int, k: int) -> float | None:
    """The chance that at least one of ``k`` attempts is right; None where fewer than ``k`` were made."""
    _check(n, c, k)
    if k > n:
        return None
    return 1.0 - math.comb(n - c, k) / math.comb(n, k)


def pass_hat_k(n: int, c: int, k: int) -> float | None:
    """The chance that all of ``k`` attempts are right; None where fewer than ``k`` were made."""
    _check(n, c, k)
    if k > n:
        return None
    return math.comb(c, k) / math.comb(n, k)


def _check(n: int, c: int, k: int) -> None:
    if k < 1 or not 0 <= c <= n:
        raise ValueError(f"{c} right of {n} attempts, k = {k}")
