"""The whole analysis: is it honest on data whose answer is known, and does it say what it must."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest

from backend.composition import METRICS, LabelledEmbeddings, combine, compose, prepare
from backend.composition.combinations import combination_means
from backend.composition.metrics import HIGHER_IS_BETTER
from backend.errors import InputError
from backend.progress import Progress
from tests.reference import composition as slow


def collection(means, *, clips: int, noise: float, random, dim: int = 32) -> LabelledEmbeddings:
    """Clips around a mean for each label set."""
    labels, rows = [], []
    for names, mean in means.items():
        for _ in range(clips):
            labels.append(frozenset(names))
            rows.append(mean + noise * random.standard_normal(dim))
    ids = tuple(f"clip-{index}" for index in range(len(rows)))
    return LabelledEmbeddings(ids, np.array(rows, dtype=np.float32), tuple(labels))


def every_set(sources: int) -> list[tuple[str, ...]]:
    names = [f"s{index}" for index in range(sources)]
    return [chosen for size in range(1, sources + 1) for chosen in itertools.combinations(names, size)]


@pytest.mark.parametrize("penalty", [None, 1e-3])
def test_purely_non_additive_data_is_found_out_although_its_fit_looks_fine(penalty):
    """64 combinations x 10 clips of 10 sources, whose means have nothing to do with their parts."""
    random = np.random.default_rng(0)
    drawn = random.permutation(len(every_set(10)))[:64]
    sets = [every_set(10)[index] for index in drawn]
    data = collection({s: random.standard_normal(32) for s in sets}, clips=10, noise=0.3, random=random)
    report = compose(data, penalty=penalty)
    if penalty is None:
        # Asked to predict what it has not seen, the validation split already says that nothing helps.
        assert report.choice.penalty > 1e3
    else:
        assert report.loo.in_sample.cosine > 0.3
    assert abs(report.loo.real.cosine) < 0.06
    assert report.loo.p[0] > 0.05


def test_purely_additive_data_adds_up():
    random = np.random.default_rng(1)
    parts = {f"s{index}": random.standard_normal(32) for index in range(7)}
    sets = every_set(7)[:64]
    data = collection({s: sum(parts[n] for n in s) for s in sets}, clips=10, noise=0.0, random=random)
    report = compose(data, penalty=1e-6)
    np.testing.assert_allclose(report.loo.real.values(), [1, 0, 1, 0, 1], atol=1e-6)
    assert report.holdout.mean("real")[0] == pytest.approx(1, abs=1e-6)
    assert report.loo.p[0] == pytest.approx(1 / 101)
    assert compose(data).loo.real.cosine == pytest.approx(1, abs=1e-4)


def small_collection(seed: int = 2, clips: int = 3) -> LabelledEmbeddings:
    random = np.random.default_rng(seed)
    parts = {f"s{index}": random.standard_normal(12) for index in range(5)}
    means = {s: sum(parts[n] for n in s) + random.standard_normal(12) for s in every_set(5)}
    return collection(means, clips=clips, noise=0.2, random=random, dim=12)


def test_the_report_equals_the_slow_twin():
    data = small_collection()
    report = compose(data, seed=3, permutations=9, splits=4)
    sets = report.combinations.members
    clips = list(zip(data.embeddings.astype(float), data.labels, strict=True))
    means = np.array([np.mean([row for row, labels in clips if labels == set(names)], axis=0) for names in sets])
    membership = np.array([[name in names for name in report.combinations.sources] for names in sets], dtype=float)
    predicted = slow.leave_out(membership, means, report.choice.penalty, [[row] for row in range(len(sets))])
    np.testing.assert_allclose(report.loo.real.values(), slow.five_metrics(means, predicted), atol=1e-8)
    overlap = slow.label_overlap([set(names) for names in sets], means)
    np.testing.assert_allclose(report.loo.overlap.values(), slow.five_metrics(means, overlap), atol=1e-8)
    clip_labels = np.array([[n in labels for n in report.combinations.sources] for labels in data.labels], dtype=float)
    expected = slow.canonical_correlations(clip_labels, data.embeddings.astype(float))
    np.testing.assert_allclose(report.cca.real, expected, atol=1e-7)


def test_holdouts_equal_refits_on_the_same_splits():
    from backend.composition import draw_split, factorise, repeated_holdout

    combinations = combine(small_collection())
    ridge = factorise(combinations.membership).ridge(0.4)
    found = repeated_holdout(ridge, combinations.means, np.random.default_rng(5), splits=3, shuffles=2)
    random = np.random.default_rng(5)
    members = [set(names) for names in combinations.members]
    for split in range(3):
        rows = draw_split(combinations.membership, random)
        actual = combinations.means[rows]
        predicted = slow.leave_out(combinations.membership, combinations.means, 0.4, [rows.tolist()])[rows]
        np.testing.assert_allclose(found.real[split], slow.five_metrics(actual, predicted, "euclidean"), atol=1e-8)
        overlap = slow.label_overlap(members, combinations.means, rows.tolist())
        np.testing.assert_allclose(found.overlap[split], slow.five_metrics(actual, overlap, "euclidean"), atol=1e-8)
        for shuffle in range(2):
            shuffled = combinations.means[random.permutation(len(combinations))]
            predicted = slow.leave_out(combinations.membership, shuffled, 0.4, [rows.tolist()])[rows]
            expected = slow.five_metrics(shuffled[rows], predicted, "euclidean")
            np.testing.assert_allclose(found.permuted[split, shuffle], expected, atol=1e-8)


def test_same_seed_same_numbers_whatever_the_order_of_clips_and_labels():
    data = small_collection()
    order = np.random.default_rng(0).permutation(len(data.ids))
    turned = LabelledEmbeddings(
        tuple(data.ids[i] for i in order), data.embeddings[order], tuple(data.labels[i] for i in order)
    )
    first, second = compose(data, permutations=5).record(), compose(turned, permutations=5).record()
    for protocol in ("loo", "holdout"):
        for kind in ("real", "permuted", "overlap", "p"):
            assert first[protocol][kind] == pytest.approx(second[protocol][kind], abs=1e-9)
    assert first["cca"]["real"] == pytest.approx(second["cca"]["real"], abs=1e-9)
    assert first["lambda"] == second["lambda"]
    assert compose(data, seed=1, permutations=5).record()["loo"]["permuted"] != first["loo"]["permuted"]


def test_json_has_the_stated_keys_and_no_nan():
    record = compose(small_collection(), permutations=4, provenance={"encoder": "pocket"}).record()
    assert list(record) == [
        "n_clips", "n_combinations", "n_sources", "dim", "lambda", "loo", "holdout", "cca", "provenance",
    ]  # fmt: skip
    assert (record["n_clips"], record["n_combinations"], record["n_sources"], record["dim"]) == (93, 31, 5, 12)
    for protocol in ("loo", "holdout"):
        for kind in ("real", "permuted", "overlap", "p"):
            assert list(record[protocol][kind]) == list(METRICS)
    assert set(record["holdout"]["sd"]) == {"real", "permuted", "overlap"}
    assert len(record["cca"]["real"]) == len(record["cca"]["permuted"]) == 5
    assert record["provenance"]["encoder"] == "pocket" and record["provenance"]["seed"] == 0
    json.dumps(record, allow_nan=False)


def test_the_record_says_how_many_shuffles_did_as_well_and_where_both_baselines_are_beaten():
    report = compose(small_collection(), permutations=7)
    record = report.record()
    for column, name in enumerate(METRICS):
        sign = 1 if HIGHER_IS_BETTER[name] else -1
        real, shuffled = getattr(report.loo.real, name), report.loo.permuted[:, column]
        counted = sum(sign * value >= sign * real for value in shuffled)
        assert record["loo"]["as_good"][name] == counted
        assert record["loo"]["p"][name] == pytest.approx((1 + counted) / 8)
        for protocol in ("loo", "holdout"):
            part = record[protocol]
            others = [part[kind][name] for kind in ("permuted", "overlap")]
            assert part["best"][name] is all(sign * part["real"][name] > sign * other for other in others)
    assert compose(small_collection(), permutations=3).record()["loo"]["best"].keys() == set(METRICS)


def test_lambda_is_on_the_grid_and_hits_by_chance_are_told():
    report = compose(small_collection(), permutations=3)
    assert report.choice.penalty in report.choice.grid
    few = {s: np.eye(4)[len(s)] for s in every_set(3)}
    notes = compose(collection(few, clips=1, noise=0.1, random=np.random.default_rng(0), dim=4), permutations=3).notes
    assert any("few" in note and "chance" in note for note in notes)
    assert any("single clip" in note for note in notes)


def test_sources_seen_once_are_told():
    means = {("a",): np.ones(4), ("a", "b"): np.arange(4.0), ("c",): np.eye(4)[0], ("c", "d"): np.eye(4)[1]}
    report = compose(collection(means, clips=2, noise=0.1, random=np.random.default_rng(0), dim=4), permutations=3)
    assert report.combinations.seen_once == ("b", "d")
    assert any("2 of 4 sources occur in one combination only (b, d)" in note for note in report.notes)


def test_no_holdout_where_every_combination_has_its_own_source():
    means = {(name,): np.eye(5)[index] for index, name in enumerate("abcde")}
    report = compose(collection(means, clips=2, noise=0.1, random=np.random.default_rng(0), dim=5), permutations=3)
    assert report.holdout is None
    record = report.record()
    assert record["holdout"]["real"]["cosine"] is None and record["holdout"]["splits"] == 0
    assert record["loo"]["real"]["cosine"] == 0
    json.dumps(record, allow_nan=False)


def test_means_are_means_whatever_the_block(monkeypatch):
    data = small_collection()
    monkeypatch.setattr("backend.composition.combinations.BLOCK_ROWS", 4)
    combinations = combine(data)
    for index, names in enumerate(combinations.members):
        rows = [i for i, labels in enumerate(data.labels) if labels == set(names)]
        assert combinations.clips(index).tolist() == rows
        np.testing.assert_allclose(combinations.means[index], data.embeddings[rows].astype(float).mean(axis=0))
    groups = np.array([0, 1, 0])
    np.testing.assert_allclose(combination_means(np.array([[1.0], [5], [3]]), groups, 2), [[2], [5]])


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        ([{"a"}, {"b"}, {"a"}], "2 combinations"),
        ([{"a"}, {"a", "b"}, {"a", "c"}], "'a' is a label of every combination"),
        ([{"a"}, set(), {"b"}], "'1' (row 2) has no label"),
    ],
)
def test_labels_that_cannot_be_used(labels, said):
    data = LabelledEmbeddings(("0", "1", "2"), np.eye(3), tuple(map(frozenset, labels)))
    with pytest.raises(InputError, match=None) as caught:
        compose(data)
    assert said in str(caught.value) and caught.value.concerns == "file"


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_value_that_is_not_finite_is_named(value):
    data = small_collection()
    data.embeddings[17, 3] = value
    with pytest.raises(InputError, match=r"'clip-17' \(row 18\) holds NaN or infinity"):
        compose(data)


@pytest.mark.parametrize("wrong", [{"seed": -1}, {"permutations": 0}, {"splits": 0}, {"penalty": -1.0}])
def test_wrong_arguments(wrong):
    with pytest.raises(InputError) as caught:
        compose(small_collection(), **wrong)
    assert caught.value.concerns == "argument"


def test_too_little_memory_is_said_with_how_much_is_needed():
    with pytest.raises(InputError, match=r"93 clips x 12 float32 numbers need 0\.\d+ GiB of memory and 0\.00 GiB"):
        compose(small_collection(), memory=1000)


def test_progress_runs_from_nothing_to_all():
    shares = []
    compose(small_collection(), permutations=5, progress=Progress(lambda step: shares.append(step.share)))
    assert shares == sorted(shares) and shares[0] == 0 and shares[-1] <= 1
    assert len(shares) > 10


def test_zero_embeddings_do_not_break_the_metrics():
    data = small_collection()
    data.embeddings[data.embeddings[:, 0] > 1e9] = 0
    zero = LabelledEmbeddings(data.ids, np.zeros_like(data.embeddings), data.labels)
    record = compose(zero, permutations=3).record()
    assert record["loo"]["real"]["cosine"] == 0 and record["loo"]["real"]["cka"] is None
    assert prepare(np.zeros((3, 2))).self_alignment == 0


def test_memory_that_runs_out_after_all_is_a_sentence(monkeypatch):
    def no_memory(*_arguments, **_keywords):
        raise MemoryError

    monkeypatch.setattr("backend.composition.analysis.factorise", no_memory)
    with pytest.raises(InputError, match=r"Memory ran out: 93 clips x 12 float32 numbers need about 0\.\d\d GiB"):
        compose(small_collection())


def test_free_memory_respects_an_address_space_limit(monkeypatch):
    from backend.composition import memory

    monkeypatch.setattr(memory.resource, "getrlimit", lambda _kind: (1, 1))
    assert memory.available_memory() == 0
