"""Values computed once and kept: also when eight visitors ask at the same moment."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from backend.encoders import base
from backend.encoders.cached import EmbeddingCache
from backend.errors import InputError
from backend.kept import Kept
from backend.progress import Cancelled, Progress, Step


def at_once(ask: Callable[[int], Any], count: int = 8) -> list[Any]:
    """What ``count`` threads get that ask together; an exception counts as an answer."""
    start, answers = threading.Barrier(count), [None] * count

    def run(number: int) -> None:
        start.wait()
        try:
            answers[number] = ask(number)
        except Exception as error:
            answers[number] = error

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    return answers


def test_eight_who_ask_together_share_one_computation() -> None:
    kept, made = Kept[str, object](), []

    def make() -> object:
        time.sleep(0.05)
        made.append(object())
        return made[-1]

    answers = at_once(lambda number: kept.get("key", make))
    assert len(made) == 1 and answers == made * 8
    assert kept.get("key", make) is made[0]


def test_other_keys_do_not_wait() -> None:
    kept, both = Kept[int, int](), threading.Barrier(2, timeout=10)

    def make() -> int:
        both.wait()  # passes only if the two computations run at the same time
        return 1

    assert at_once(lambda number: kept.get(number, make), 2) == [1, 1]


def test_an_error_is_not_kept_and_the_next_computes_again() -> None:
    kept, tries = Kept[str, int](), []

    def make() -> int:
        tries.append(1)
        time.sleep(0.02)
        if len(tries) == 1:
            raise InputError("not this time")
        return 7

    answers = at_once(lambda number: kept.get("key", make))
    assert len(tries) == 2
    assert sorted(map(str, answers)) == ["7"] * 7 + ["not this time"]


def test_a_value_too_large_to_keep_still_reaches_all_who_waited() -> None:
    kept, made = Kept[str, bytes](most_bytes=10, size=len), []

    def make() -> bytes:
        time.sleep(0.05)
        made.append(b"x" * 100)
        return made[-1]

    assert at_once(lambda number: kept.get("key", make)) == [b"x" * 100] * 8
    assert len(made) == 1 and "key" not in kept and kept.bytes_held == 0


def test_those_used_longest_ago_go_first() -> None:
    gone: list[str] = []
    kept = Kept[str, bytes](3, most_bytes=100, size=len, dropped=gone.append)
    for name in "abc":
        kept.put(name, b"x" * 10)
    assert kept.found("a") == b"x" * 10
    kept.put("d", b"x" * 10)
    assert gone == ["b"] and len(kept) == 3
    kept.put("e", b"x" * 85)
    assert gone == ["b", "c", "a"] and kept.bytes_held == 95
    kept.put("e", b"x" * 5)  # replaced, not counted twice
    assert kept.bytes_held == 15 and len(kept) == 2
    kept.forget("d")
    kept.forget("never there")
    assert kept.bytes_held == 5 and kept.found("d") is None
    kept.clear()
    assert len(kept) == 0 and kept.bytes_held == 0


def test_the_latest_may_be_kept_whatever_its_size() -> None:
    kept = Kept[str, bytes](most_bytes=10, size=len, least=1)
    kept.put("small", b"x")
    kept.put("large", b"x" * 100)
    assert "large" in kept and "small" not in kept


def test_what_is_forgotten_while_it_is_made_is_not_kept() -> None:
    kept, begun, go = Kept[str, int](), threading.Event(), threading.Event()

    def make() -> int:
        begun.set()
        go.wait(10)
        return 1

    answers: list[int] = []
    asking = threading.Thread(target=lambda: answers.append(kept.get("key", make)))
    asking.start()
    begun.wait(10)
    kept.forget("key")
    assert kept.get("key", lambda: 2) == 2  # does not wait for what is out of date
    go.set()
    asking.join(10)
    assert answers == [1] and kept.found("key") == 2


def test_one_who_waits_sees_how_far_it_is_and_may_leave() -> None:
    kept, begun, go = Kept[str, int](), threading.Event(), threading.Event()
    first, seen = Progress(), []

    def make() -> int:
        first.report("Embedding clip 3 of 40", 3, 40)
        begun.set()
        go.wait(10)
        first.check()
        return 1

    answers: list[object] = []
    asking = threading.Thread(target=lambda: answers.append(kept.get("key", make, first)))
    asking.start()
    begun.wait(10)

    def look(step: Step) -> None:
        seen.append(step.what)
        second.cancel()

    second = Progress(look)
    with pytest.raises(Cancelled):
        kept.get("key", lambda: 2, second)
    assert seen == ["Embedding clip 3 of 40"]
    go.set()
    asking.join(10)
    assert answers == [1]  # the one who left has stopped nobody else


def test_when_the_first_cancels_the_second_computes() -> None:
    kept, begun, go = Kept[str, int](), threading.Event(), threading.Event()
    first, answers = Progress(), []

    def make() -> int:
        begun.set()
        go.wait(10)
        first.check()
        return 1

    def ask() -> None:
        with pytest.raises(Cancelled):
            kept.get("key", make, first)

    one = threading.Thread(target=ask)
    one.start()
    begun.wait(10)
    two = threading.Thread(target=lambda: answers.append(kept.get("key", lambda: 2, Progress())))
    two.start()
    first.cancel()
    go.set()
    one.join(10)
    two.join(10)
    assert answers == [2]


def test_an_encoder_that_is_there_waits_for_none_that_is_being_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    loading, go = threading.Event(), threading.Event()

    class Slow:
        prefix = "slow"

        def listed(self) -> list[object]:
            return []

        def load(self, encoder_id: str) -> object:
            loading.set()
            go.wait(10)
            raise InputError("enough")

    ready = object()
    monkeypatch.setattr(base, "_loaded", Kept())
    monkeypatch.setattr(base, "families", lambda: [Slow()])
    base._loaded.put("ready", ready)
    monkeypatch.setattr(base, "_offered", {"ready"})

    def load_slowly() -> None:
        with pytest.raises(InputError, match="enough"):
            base.load_encoder("slow:x", trusted=True)

    slow = threading.Thread(target=load_slowly)
    slow.start()
    assert loading.wait(10)
    quick: list[object] = []
    second = threading.Thread(target=lambda: quick.append(base.load_encoder("ready")))
    second.start()
    second.join(5)
    assert quick == [ready]
    go.set()
    slow.join(10)


def test_the_cache_of_embeddings_reads_a_group_again_once_a_part_of_it_went(tmp_path) -> None:
    one, other = np.ones(100, np.float32), np.zeros(100, np.float32)
    cache = EmbeddingCache(tmp_path, memory_bytes=800, disk_bytes=2**20)
    cache.put("group", {"a": one, "b": other})
    cache.put("elsewhere", {"c": one})
    assert cache.get("elsewhere", "c") is not None
    np.testing.assert_array_equal(cache.get("group", "a"), one)
    np.testing.assert_array_equal(cache.get("group", "b"), other)
