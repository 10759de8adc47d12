"""The kinds of the columns of real tables, as a person would say; a bar stands between two that are as good.

Codes that only the codebook of a table explains (Ex, Gd, TA) may count as names."""

from __future__ import annotations

from pathlib import Path

import pytest

import tenfold
from tenfold.table.kinds import KINDS
from tenfold.table.orders import order_of

TABLES = Path(__file__).resolve().parents[2] / "shared" / "data" / "tables"
# For each table a line a kind, then the columns; * stands for all others.
EXPECTED = {
    "abalone": "nominal: sex; ratio: *; count: target",
    "adult": "ratio: age fnlwgt capital_gain capital_loss hours_per_week; ordinal|count: education_num; nominal: *",
    "ames": "ratio: area Lot.Frontage Lot.Area Mas.Vnr.Area BsmtFin.SF.1 BsmtFin.SF.2 Bsmt.Unf.SF Total.Bsmt.SF X1st.Flr.SF X2nd.Flr.SF "
    "Low.Qual.Fin.SF Garage.Area Wood.Deck.SF Open.Porch.SF Enclosed.Porch X3Ssn.Porch Screen.Porch Pool.Area Misc.Val target; "
    "interval: Year.Built Year.Remod.Add Garage.Yr.Blt Yr.Sold; "
    "ordinal: Overall.Qual Overall.Cond Mo.Sold; "
    "nominal|ordinal: Lot.Shape Land.Slope Exter.Qual Exter.Cond Bsmt.Qual Bsmt.Cond Bsmt.Exposure BsmtFin.Type.1 "
    "BsmtFin.Type.2 Heating.QC Kitchen.Qual Functional Fireplace.Qu Garage.Finish Garage.Qual Garage.Cond Pool.QC Fence; "
    "count: Bsmt.Full.Bath Bsmt.Half.Bath Full.Bath Half.Bath Bedroom.AbvGr Kitchen.AbvGr Fireplaces Garage.Cars; "
    "count|ratio: TotRms.AbvGrd; nominal: *",
    "auto_mpg": "count|ordinal: cylinders; interval: model_year; nominal: origin; ratio: *",
    "breast_cancer": "nominal: target; ratio: *",
    "california_housing": "interval: longitude latitude; count: total_rooms total_bedrooms population households; "
    "nominal: ocean_proximity; ratio: *",
    "concrete": "ratio: *",
    "credit_g": "ordinal: checking_status savings_status employment installment_commitment residence_since; "
    "ratio: duration credit_amount age; count: existing_credits; nominal|count: num_dependents; nominal: *",
    "diabetes": "nominal: sex; ratio: *",
    "diamonds": "ordinal: cut clarity; nominal|ordinal: color; ratio: *",
    "digits": "constant: pixel_0_0 pixel_4_0 pixel_4_7; nominal|ordinal: target; count|ratio|nominal|ordinal: *",
    "faithful": "nominal: target; ratio: *",
    "hmda": "ratio: pirat hirat lvrat unemp; ordinal: chist mhist; nominal: *",
    "hypothyroid": "ratio: age TSH T3 TT4 T4U FTI; constant: TBG|measured; empty: TBG; nominal: *",
    "iris": "nominal: target; ratio: *",
    "kin8nm": "ratio: target; interval: *",
    "letter": "nominal: target; count|ratio: *",
    "mammography": "nominal: target; interval: *",
    "oil_spill": "constant: x23; nominal: target x39 x40 x46; interval: x26 x28 x30 x31; count|ratio: x1 x5; ratio: *",
    "penguins": "nominal: island sex target; ratio: *",
    "randhie": "nominal: idp hlthg hlthf hlthp; count: target; ratio: *",
    "sms_spam": "text: text; nominal: target",
    "soybean": "ordinal: date; nominal|ordinal: *",
    "spambase": "nominal: target; ratio|count: *",
    "tecator": "ratio: *",
    "titanic": "ordinal: pclass; ratio: age fare; count: sibsp parch; nominal: *",
    "vehicle": "nominal: target; ratio|count: *",
    "wage": "interval: year; ratio: age target; nominal|ordinal: education; nominal: *",
    "wine_quality": "nominal: color; interval|ratio: pH; ordinal: target; ratio: *",
}


@pytest.mark.parametrize("name", EXPECTED)
def test_as_a_person_would_say(name: str) -> None:
    if not TABLES.is_dir():
        pytest.skip("the folder of real tables is not here")
    wanted: dict[str, str] = {}
    rest = ""
    for line in EXPECTED[name].split("; "):
        kinds, columns = line.split(": ")
        assert set(kinds.split("|")) <= set(KINDS)
        for column in columns.split(" "):
            if column == "*":
                rest = kinds
            wanted[column.replace("|", " ")] = kinds
    table = tenfold.read(TABLES / f"{name}.csv.gz")
    wrong = {
        column: (kind, wanted.get(column, rest))
        for column, kind in table.kinds.items()
        if kind not in wanted.get(column, rest).split("|")
    }
    assert wrong == {} and all(column.evidence for column in table.columns)


def test_every_table_has_an_expectation() -> None:
    if not TABLES.is_dir():
        pytest.skip("the folder of real tables is not here")
    assert {path.name.removesuffix(".csv.gz") for path in TABLES.glob("*.csv.gz")} == set(EXPECTED)


@pytest.mark.parametrize(
    ("levels", "order"),
    [
        (["high", "low", "medium"], ("low", "medium", "high")),
        (["Sat", "Mon", "Tue"], ("Mon", "Tue", "Sat")),
        ([">=500", "100-500", "<100", "none"], ("none", "<100", "100-500", ">=500")),
        (["18-25", "65+", "26-40", "41-64"], ("18-25", "26-40", "41-64", "65+")),
        (["2. High School", "1. Elementary", "3. Some College"], ("1. Elementary", "2. High School", "3. Some College")),
        (["agree", "disagree", "neutral", "strongly agree"], ("disagree", "neutral", "agree", "strongly agree")),
        (["red", "green", "blue"], ()),
        (["yes", "no"], ()),
        (["a1", "b2", "c3"], ()),
        (["10115", "53111", "80331"], ()),
    ],
)
def test_orders(levels: list[str], order: tuple[str, ...]) -> None:
    assert order_of(levels) == order
