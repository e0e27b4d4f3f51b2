"""Looking into a report: contributions, sound arithmetic, the plane, charts and files."""

from __future__ import annotations

import json
import xml.etree.ElementTree as xml
from html import escape
from types import SimpleNamespace

import numpy as np
import pytest

from backend.composition import LabelledEmbeddings, compose
from backend.composition.explore import (
    combination_detail,
    contribution_cosines,
    ends,
    plane,
    sound_arithmetic,
    worst_first,
)
from backend.composition.published import PUBLISHED
from backend.errors import InputError
from backend.reports.composition.charts import report_charts
from backend.reports.composition.export import write_report
from backend.reports.composition.rows import report_tables
from backend.reports.figures import drawn

NAMES = ("<b>dog</b>", "rain & wind", "siren", "baby")


@pytest.fixture(scope="module")
def report():
    """Eleven combinations of four sounds in twelve dimensions, one sound seen once."""
    random = np.random.default_rng(4)
    parts = {name: random.standard_normal(12) for name in NAMES}
    sets = [{a} for a in NAMES[:3]] + [{a, b} for i, a in enumerate(NAMES[:3]) for b in NAMES[i + 1 : 3]]
    sets += [set(NAMES[:3]), {"baby", "siren"}]
    labels, rows = [], []
    for index, names in enumerate(sets):
        for _ in range(1 + index % 3):
            labels.append(frozenset(names))
            rows.append(sum(parts[name] for name in sorted(names)) + 0.3 * random.standard_normal(12))
    data = LabelledEmbeddings(tuple(f"c{i}" for i in range(len(rows))), np.array(rows), tuple(labels))
    return compose(data, permutations=12, splits=3, provenance={"encoder": "pocket", "weights": "abc"})


def test_contributions_of_a_left_out_combination_make_its_prediction(report):
    for index in range(len(report.combinations)):
        detail = combination_detail(report, index)
        shares = sum(part.along for part in detail.contributions)
        actual = report.combinations.means[index]
        expected = report.loo.predicted[index] @ actual / (actual @ actual)
        assert shares == pytest.approx(expected, abs=1e-9)
        assert detail.actual.rank == report.loo.ranks[index]
        if detail.actual.rank <= len(detail.neighbours):
            assert detail.neighbours[detail.actual.rank - 1].index == index
        assert [n.cosine for n in detail.neighbours] == sorted((n.cosine for n in detail.neighbours), reverse=True)


def test_a_source_seen_once_is_unknown_when_it_is_left_out(report):
    index = report.combinations.members.index(("baby", "siren"))
    parts = {part.source: part for part in combination_detail(report, index).contributions}
    assert not parts["baby"].known and parts["baby"].length == 0
    assert parts["siren"].known and parts["siren"].length > 0


def test_sound_arithmetic_takes_back_what_it_adds(report):
    total = sound_arithmetic(report, [(1, "siren"), (1, NAMES[0]), (-1, "siren")])
    alone = sound_arithmetic(report, [(1, NAMES[0])])
    assert total.length == pytest.approx(alone.length)
    assert [n.index for n in total.clips] == [n.index for n in alone.clips]
    assert report.combinations.members[total.exact.index] == (NAMES[0],)
    assert sound_arithmetic(report, [(1, "siren"), (1, "siren")]).exact is None


@pytest.mark.parametrize(
    "terms",
    [[], [(1, "whale")], [(2, "siren")], [(1, "siren"), (-1, "siren")], "siren", [(1,)], [(1, "siren")] * 13, None],
)
def test_sums_that_cannot_be(report, terms):
    with pytest.raises(InputError):
        sound_arithmetic(report, terms)


@pytest.mark.parametrize("index", [-1, 99, 1.5, "0", None, True])
def test_combinations_that_are_not_there(report, index):
    with pytest.raises(InputError, match="was asked for"):
        combination_detail(report, index)


def test_the_plane_keeps_the_variance_it_says(report):
    found = plane(report)
    centred = report.combinations.means - report.combinations.means.mean(axis=0)
    total = np.sum(centred**2)
    np.testing.assert_allclose((found.actual**2).sum(axis=0) / total, found.kept, atol=1e-12)
    assert found.kept[0] >= found.kept[1] > 0


def test_contribution_cosines_are_cosines(report):
    values = contribution_cosines(report)
    np.testing.assert_allclose(values, values.T)
    np.testing.assert_allclose(np.diag(values), 1)


def test_every_chart_draws_as_well_formed_svg_that_shows_names_as_text(report):
    for chart in report_charts(report):
        drawing = drawn(chart, dpi=40)
        root = xml.fromstring(drawing.svg)
        assert root.get("aria-label") == chart.title
        assert not root.findall(".//{*}b")
        for element in root.iter():
            for name in ("x", "y", "x1", "y1", "cx", "cy"):
                value = element.get(name)
                assert value is None or np.isfinite(float(value))
        assert drawing.png.startswith(b"\x89PNG")
    words = "".join(xml.fromstring(drawn(report_charts(report)[1], dpi=40).svg).itertext())
    assert all(name in words for name in report.combinations.sources)


def test_scatter_marks_carry_their_combination(report):
    scatter = report_charts(report)[0]
    assert sorted(key for series in scatter.series for key in series.keys) == list(range(len(report.combinations)))


def test_files_hold_the_same_numbers(report, tmp_path):
    written = {path.name for path in write_report(report, tmp_path / "out")}
    assert json.loads((tmp_path / "out" / "compose.json").read_text()) == json.loads(json.dumps(report.record()))
    for chart in report_charts(report):
        assert {f"{chart.key}.{kind}" for kind in ("svg", "png", "html")} <= written
        assert f"<h1>{escape(chart.title)}</h1>" in (tmp_path / "out" / f"{chart.key}.html").read_text()
    page = (tmp_path / "out" / "report.html").read_text()
    assert (
        "&lt;b&gt;dog&lt;/b&gt;" in page
        and "<b>dog" not in page
        and "http" not in page.replace("www.w3.org", "").replace("http:///", "")
    )
    rows = (tmp_path / "out" / "combinations.csv").read_text().splitlines()
    assert len(rows) == len(report.combinations) + 1
    worst = report.combinations.members[worst_first(report)[0]]
    assert rows[1].startswith(";".join(worst))
    stored = np.load(tmp_path / "out" / "reconstruction.npz")
    np.testing.assert_array_equal(stored["predicted"], report.loo.predicted)


def test_a_folder_that_cannot_be_written(report, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="is a file"):
        write_report(report, tmp_path / "file")


def test_tables_are_complete(report):
    tables = report_tables(report)
    for table in tables.values():
        assert all(set(row) <= set(table.columns) for row in table.rows)
    assert len(tables["metrics"].rows) == 10 and len(tables["permutations"].rows) == 12


def test_published_rows_are_the_papers():
    assert len(PUBLISHED) == 12
    assert PUBLISHED[0].real == ("0.686", "0.761", "0.579", "0.0007", "0.43")
    assert all(len(row.overlap) == (5 if row.protocol == "holdout" else 0) for row in PUBLISHED)


def test_what_the_drawer_says_of_a_combination_is_a_field_of_its_detail(report):
    for index in range(len(report.combinations)):
        detail = combination_detail(report, index)
        means, predicted = report.combinations.means, report.loo.predicted[index]
        cosines = means @ predicted / np.linalg.norm(means, axis=1) / (np.linalg.norm(predicted) or 1.0)
        assert detail.nearer == np.count_nonzero(np.delete(cosines, index) >= cosines[index])
        assert detail.others == len(report.combinations) - 1
        size = np.linalg.norm(means[index])
        assert detail.residual == pytest.approx(np.linalg.norm(predicted - means[index]) / size)
        assert detail.recovered == pytest.approx(predicted @ means[index] / size**2, abs=1e-9)
        others = [at for at in np.argsort(-cosines, kind="stable") if at != index]
        assert detail.nearest_other is not None
        assert detail.nearest_other.index == others[0]
        assert index in [near.index for near in detail.listed]
        assert max(part.bar for part in detail.contributions) <= 1.0


def test_the_ends_hold_every_combination_once_where_there_are_few(report):
    worst, best = ends(report)
    order = np.argsort(report.loo.cosines, kind="stable").tolist()
    assert list(worst) == order[:8]
    assert list(best) == order[max(8, len(order) - 4) :]


@pytest.mark.parametrize(
    ("count", "dim"), [(40, 6), (3, 9), (2, 5), (5, 1), (1, 4)], ids=lambda number: str(number)
)  # fmt: skip
@pytest.mark.parametrize("spread", [1.0, 0.0])
def test_the_plane_is_that_of_a_singular_value_decomposition(count: int, dim: int, spread: float) -> None:
    random = np.random.default_rng(count)
    means, predicted = 0.5 + spread * random.normal(size=(count, dim)), random.normal(size=(count, dim))
    found = plane(SimpleNamespace(combinations=SimpleNamespace(means=means), loo=SimpleNamespace(predicted=predicted)))
    centre = means.mean(axis=0)
    _, singular, axes = np.linalg.svd(means - centre, full_matrices=False)
    if spread:
        shares = np.pad(singular**2, (0, 2))[:2] / max(float(np.sum(singular**2)), 1e-12)
        np.testing.assert_allclose(found.kept, shares, atol=1e-12)
    else:
        np.testing.assert_array_equal(found.kept, 0)
    assert found.actual.shape == found.predicted.shape == (count, 2)
    for place in range(min(2, len(axes)) if spread and count > 2 else 0):
        axis = axes[place] * np.sign(axes[place][np.argmax(np.abs(axes[place]))])
        np.testing.assert_allclose(found.actual[:, place], (means - centre) @ axis, atol=1e-9)
        np.testing.assert_allclose(found.predicted[:, place], (predicted - centre) @ axis, atol=1e-9)
