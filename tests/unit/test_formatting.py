"""What the formatting module prints, each expectation worked out by hand."""

import math

import pytest

from reportgen import formatting as f

NB, THIN = "\u00a0", "\u202f"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (6.6, "6.60"),
        (45, "45.0"),
        (363, "363"),
        (363.4, "363"),
        (0, "0"),
        (0.0, "0"),
        (0.583, "0.58"),
        (0.05, "0.05"),
        (0.005, "0.01"),
        (0.0049, f"<{NB}0.01"),
        (9.994, "9.99"),
        (9.995, "10.0"),
        (99.95, "100"),
        (99.94, "99.9"),
        (999.6, f"1{THIN}000"),
        (77_591, f"77{THIN}600"),
        (1_234_567, f"1{THIN}230{THIN}000"),
        (-0.36, "−0.36"),
        (-5.06, "−5.06"),
        (1e-300, f"<{NB}0.01"),
    ],
)
def test_number_has_three_significant_digits_and_at_most_two_decimals(value, text):
    assert f.number(value) == text


@pytest.mark.parametrize("value", [None, math.nan, math.inf, -math.inf])
@pytest.mark.parametrize(
    "write",
    [
        f.number,
        f.count,
        f.duration,
        f.step_time,
        f.size,
        f.share,
        f.flop_rate,
        f.byte_rate,
        lambda value: f.fixed(value, 2),
        lambda value: f.quantity(value, "W"),
        lambda value: f.duration_of(value, 1.0),
        lambda value: f.duration_of(1.0, value),
        lambda value: f.spread(value, 1.0),
        lambda value: f.change(1.0, value),
        lambda value: f.factor(value, 1.0),
        lambda value: f.column([value]).cells[0],
        lambda value: f.time_column([value]).cells[0],
        lambda value: f.size_column([value]).cells[0],
    ],
)
def test_what_is_no_number_is_not_recorded(write, value):
    assert write(value) == "not recorded"


def test_factor_by_zero_is_not_recorded():
    assert f.factor(1.0, 0.0) == "not recorded"


@pytest.mark.parametrize(
    ("us", "text"),
    [
        (0, f"0{NB}µs"),
        (0.001, f"<{NB}0.01{NB}µs"),
        (2.24, f"2.24{NB}µs"),
        (999.4, f"999{NB}µs"),
        (999.6, f"1.00{NB}ms"),
        (6600, f"6.60{NB}ms"),
        (999_600, f"1.00{NB}s"),
        (3.6e9, f"3{THIN}600{NB}s"),
        (-5060, f"−5.06{NB}ms"),
    ],
)
def test_duration_takes_the_unit_that_its_rounded_value_fits(us, text):
    assert f.duration(us) == text


@pytest.mark.parametrize(
    ("us", "text"),
    [(6600, f"6.60{NB}ms"), (583, f"0.58{NB}ms"), (45.0, f"45.0{NB}µs"), (25_300_000, f"25.3{NB}s"), (0, f"0{NB}µs")],
)
def test_step_time_stays_in_milliseconds(us, text):
    assert f.step_time(us) == text


def test_a_part_is_written_in_the_unit_of_its_whole():
    assert f.duration_of(1300, 6600) == f"1.30 of 6.60{NB}ms"
    assert f.duration_of(583, 45_000) == f"0.58 of 45.0{NB}ms"
    assert f.duration_of(0, 45_000) == f"0 of 45.0{NB}ms"


def test_ranges_and_changes_share_one_unit():
    assert f.spread(6000, 7300) == f"6.00 to 7.30{NB}ms"
    assert f.spread(6000, 6001) == f"6.00{NB}ms"
    assert f.change(6600, 1540) == f"6.60 → 1.54{NB}ms"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, f"0{NB}B"),
        (512, f"512{NB}B"),
        (36 * 1024, f"36.0{NB}KiB"),
        (363.24 * 2**20, f"363{NB}MiB"),
        (1010 * 2**20, f"0.99{NB}GiB"),
        (6_580_862_976, f"6.13{NB}GiB"),
        (-534 * 2**20, f"−534{NB}MiB"),
    ],
)
def test_size_is_in_binary_units(value, text):
    assert f.size(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, f"0{NB}%"),
        (0.0004, f"<{NB}0.1{NB}%"),
        (1e-15, f"<{NB}0.1{NB}%"),
        (0.0005, f"0.1{NB}%"),
        (0.197, f"19.7{NB}%"),
        (0.9996, f">{NB}99.9{NB}%"),
        (0.9999999, f"100{NB}%"),
        (1, f"100{NB}%"),
        (-0.25, f"−25.0{NB}%"),
        (1.2, f"120.0{NB}%"),
    ],
)
def test_share_is_never_rounded_to_nothing_or_to_the_whole(value, text):
    assert f.share(value) == text


@pytest.mark.parametrize(
    ("before", "after", "text"),
    [(6600, 1540, "4.3×"), (45, 6, "7.5×"), (120, 10, "12×"), (104, 100, "1.04×"), (995, 100, "10×")],
)
def test_factor_has_two_digits(before, after, text):
    assert f.factor(before, after) == text


def test_counts_agree_with_their_nouns():
    assert f.plural(1, "activity", "activities") == f"1{NB}activity"
    assert f.plural(247, "activity", "activities") == f"247{NB}activities"
    assert f.plural(0, "launch") == f"0{NB}launches"
    assert f.plural(1298, "call") == f"1{THIN}298{NB}calls"
    assert f.plural(24.333, "call") == f"24.3{NB}calls"
    assert f.count(-3) == "−3"
    assert f.spelled(2) == "two"
    assert f.spelled(13) == "13"
    assert f.listing(["a"]) == "a"
    assert f.listing(["a", "b", "c"]) == "a, b and c"


def test_a_column_has_one_unit_and_one_number_of_decimals():
    column = f.time_column([1290, 10, 5.0, 0], unit="ms")
    assert (column.unit, column.cells) == ("ms", ("1.29", "0.01", "0.01", "0.00"))
    assert f.time_column([425.8, 26.2], 1298.1, unit="µs").total == f"1{THIN}298.1"
    assert f.size_column([237.35 * 2**20, 0.75 * 2**20], 363.24 * 2**20).cells == ("237.4", "0.8")


def test_a_column_never_prints_zero_for_what_is_not_zero():
    assert f.time_column([6600, 2, None], unit="ms").cells == ("6.60", f"<{NB}0.01", "not recorded")


def test_printed_cells_sum_to_the_printed_total():
    # 3 x 1.334 rounds to 3 x 1.33 = 3.99, but the total 4.002 rounds to 4.00: one cell takes the hundredth.
    assert f.column([1.334, 1.334, 1.334], 4.002).cells == ("1.34", "1.33", "1.33")
    # 3 x 1.336 rounds to 4.02, the total 4.008 to 4.01.
    assert f.column([1.336, 1.336, 1.336], 4.008).cells == ("1.33", "1.34", "1.34")


def test_cells_that_are_not_the_parts_of_the_total_stay_as_they_are():
    assert f.column([1.0, 2.0], 40.0).cells == ("1.00", "2.00")


def test_hidden_digits_put_decimal_points_in_line():
    assert f.hidden_digits(["45.0", "6.60", "363", "not recorded"]) == ("0", "", ".00", "")


def test_names_are_cut_in_the_middle():
    assert f.shorten("abcdefghij", 5) == "ab…ij"
    assert f.shorten("abcde", 5) == "abcde"
    assert f.shorten("abcdefgh", 2) == "a…"
    assert len(f.legible("x" * 20_000, 24)) == 24
    assert f.operator_name("aten::mm") == "mm"


def test_legible_leaves_no_control_or_direction_characters():
    assert f.legible("a\x01b\tc\u202ed\n") == "a\\u0001b c\\u202ed"
    assert f.legible("") == "(no name)"
    assert f.legible(" \n ") == "(no name)"
    assert f.legible("\ud800") == "?"
    assert f.legible("שלום 👩‍💻") == "שלום 👩‍💻"


def test_lines_for_a_terminal_keep_their_breaks_and_nothing_that_it_acts_on():
    assert f.printable("  a\n\x1b[31mb\r\u202e\ud800\x9b") == "  a\n\\u001b[31mb\\u000d\\u202e\\ud800\\u009b"


def test_shapes_of_a_product_show_its_two_factors():
    assert f.shapes([[512, 768], [768, 50257]], ["c10::Half"] * 2, "aten::mm") == f"512×768 · 768×50{THIN}257"
    assert f.shapes([[3072], [512, 768], [768, 3072], [], []], None, "aten::addmm") == "512×768 · 768×3072"


def test_shapes_of_other_operators_are_grouped():
    half = "c10::Half"
    assert f.shapes([[1, 12, 512, 64]] * 3, [half] * 3) == "3 × 1×12×512×64"
    assert f.shapes([[0], [1, 12, 512, 64]], [half] * 2) == "[0], 1×12×512×64"
    assert f.shapes([[1, 512, 3072], []], [half, "double"]) == "1×512×3072, scalar"
    assert f.shapes([[2, 3], [2, 3], []], [half, half, "Scalar"]) == "2 × 2×3"
    assert f.shapes([[1], [2], [3], [4]], [half] * 4) == "[1], [2], 2 more"
    assert f.shapes([[]], [""]) == "no tensors"
    assert f.shapes(None) == "not recorded"


def test_dates_are_written_out():
    assert f.date("2026-11-29T15:47:00Z") == "29 November 2026"
    assert f.date("yesterday") == "yesterday"


@pytest.mark.parametrize(
    ("count", "whole", "text"),
    [(6, 10, "6 of 10 launches"), (1, 2, "1 of 2 launches"), (10, 10, "all 10 launches"), (1, 1, "the only launch")],
)
def test_a_part_of_a_whole_reads_as_one_says_it(count: int, whole: int, text: str) -> None:
    assert f.part(count, whole, "launch").replace(NB, " ") == text


@pytest.mark.parametrize(("joules", "text"), [(4.88, "4.88 J"), (0.0041, "4.10 mJ"), (2.5e-5, "25.0 µJ")])
def test_an_energy_takes_the_unit_that_shows_its_digits(joules: float, text: str) -> None:
    assert f.energy(joules).replace(f.NBSP, " ") == text


def test_what_happens_a_single_time_happens_once() -> None:
    assert [f.times(1.0), f.times(8.0).replace(f.NBSP, " ")] == ["once", "8 times"]
