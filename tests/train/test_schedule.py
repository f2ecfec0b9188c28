import pytest

from bertsmith.common.errors import SettingsError
from bertsmith.train.schedule import Budget, linear_with_warmup


def test_the_rate_rises_to_the_peak_and_falls_to_zero() -> None:
    """Decision 5: the peak is at the end of warm-up, 0 at the end of the budget."""
    places = [0.0, 0.05, 0.1, 0.55, 1.0, 1.2]
    rates = [linear_with_warmup(progress, 0.1) for progress in places]
    assert rates == pytest.approx([0, 0.5, 1, 0.5, 0, 0])
    assert linear_with_warmup(0.0, 0.0) == 1.0
    # The 2018 code jumps from 1 to 0.9 at the end of a warm-up of a tenth; here nothing jumps.
    before, after = linear_with_warmup(0.1 - 1e-9, 0.1), linear_with_warmup(0.1 + 1e-9, 0.1)
    assert before == pytest.approx(after, abs=1e-6)


def test_no_step_is_wasted() -> None:
    """Ten steps, two of warm-up: the first and the last step have a rate, the peak is between."""
    rates = [linear_with_warmup((step + 0.5) / 10, 0.2) for step in range(10)]
    rising, falling = [0.25, 0.75], [(10 - step - 0.5) / 8 for step in range(2, 10)]
    assert rates == pytest.approx(rising + falling)
    assert rates[-1] == pytest.approx(0.0625)


def test_budgets() -> None:
    assert Budget(steps=200).progress(50, 0, 0) == 0.25
    assert Budget(tokens=1000).progress(0, 500, 0) == 0.5
    assert Budget(minutes=2).progress(0, 0, 90) == 0.75
    assert Budget(steps=10).done(10, 0, 0)
    assert not Budget(steps=10).done(9, 0, 0)
    for wrong in ({}, {"steps": 1, "tokens": 1}, {"steps": 0}, {"minutes": float("nan")}):
        with pytest.raises(SettingsError):
            Budget(**wrong)
