import pytest

from okn_benchmark.corpus.record import Record, tier_of
from okn_benchmark.corpus.select import select
from okn_benchmark.errors import InputError

IDS = ("alpha_low", "beta_high", "beta_low", "delta", "gamma_low")
RECORDS = tuple(Record(id=i, tier=tier_of(i), summary="s", query="q", path_name=f"{i}.rq") for i in IDS)


def ids(**filters: object) -> list[str]:
    return [record.id for record in select(RECORDS, **filters).records]  # type: ignore[arg-type]


def test_everything_without_filters() -> None:
    assert ids() == list(IDS)
    assert select(RECORDS).count() == "5 of 5 records"


def test_tier_then_exclude_then_limit() -> None:
    chosen = select(RECORDS, tier="low", exclude=["alpha_*"], limit=1)
    assert [record.id for record in chosen.records] == ["beta_low"]
    assert [(e.id, e.reason) for e in chosen.excluded] == [("alpha_low", "excluded by --exclude alpha_*")]
    assert chosen.count() == "1 of 5 records"


def test_one_pattern_covers_a_question_in_every_tier() -> None:
    assert ids(exclude=["beta_*"]) == ["alpha_low", "delta", "gamma_low"]


def test_a_pattern_without_effect_lists_the_ids() -> None:
    with pytest.raises(InputError, match="nosuch") as caught:
        select(RECORDS, exclude=["nosuch*"])
    assert "beta_high" in str(caught.value.hint)


def test_a_pattern_of_another_tier_says_so() -> None:
    with pytest.raises(InputError, match="matches in another: beta_high") as caught:
        select(RECORDS, tier="low", exclude=["*_high"])
    assert "beta_low" in str(caught.value.hint)
    assert "beta_high" not in str(caught.value.hint)


@pytest.mark.parametrize("filters", [{"tier": "nosuch"}, {"limit": 0}, {"exclude": ["*"]}])
def test_a_filter_that_leaves_nothing_is_an_error(filters: dict[str, object]) -> None:
    with pytest.raises(InputError):
        select(RECORDS, **filters)  # type: ignore[arg-type]


def test_letter_case_of_a_pattern_counts() -> None:
    with pytest.raises(InputError):
        select(RECORDS, exclude=["BETA_*"])
