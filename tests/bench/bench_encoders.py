"""LAION-CLAP as we run it against LAION-CLAP as its README says, on full-size random weights.

    python -m tests.bench.bench_encoders [--repeats 3] [--base]

17 two-second windows of a 10 s clip (hop 0.5 s). The alternative is the user's loop: one
``get_audio_embedding_from_data`` call a window, autograd on, and for texts the package's own call, padded to 77
tokens. Both run in the same process, in turns, and the best of the repeats counts; memory is that of
a process of its own. Numbers differ by less than 1e-5, which is checked here too.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

WINDOWS, SECONDS, RATE = 17, 2.0, 48_000
QUERY = ["a dog barking, no rain"]
"""12 tokens in the small vocabulary of this benchmark, 8 in RoBERTa's own."""


def random_module(amodel: str):
    """The package's module of full size with random weights, the same every time, and a small vocabulary."""
    import torch

    from backend.encoders.families import laion_package, tokens
    from tests.backend.encoders import tiny

    folder = tiny.vocabulary(Path(tempfile.mkdtemp(prefix="unheard-bench-")))
    size = len(json.loads((folder / "vocab.json").read_text()))
    tokenizer = tokens.roberta_tokenizer(folder, size)
    torch.manual_seed(0)
    return laion_package.blank(laion_package.Architecture(amodel, 50_265, 768, 12, 3072, 514), tokenizer).eval()


def user_loop(package, sounds):
    """What the package's README does, a window at a time."""
    import numpy as np

    return np.concatenate([package.get_audio_embedding_from_data(sounds[i : i + 1]) for i in range(len(sounds))])


def timed(work: Callable[[], object]) -> tuple[float, float, object]:
    """Wall seconds, processor seconds, result."""
    wall, processor = time.perf_counter(), time.process_time()
    result = work()
    return time.perf_counter() - wall, time.process_time() - processor, result


def compared(amodel: str, repeats: int) -> dict[str, float]:
    """Times of everything, taken in turns."""
    import numpy as np

    from backend.encoders.families import laion
    from tests.backend.encoders import tiny

    package = random_module(amodel)
    ours = laion.LaionEncoder("laion:random", random_module(amodel), "0" * 12)
    fast = laion.LaionEncoder("laion:random@bf16", random_module(amodel), "0" * 12, bf16=True)
    sounds = tiny.windows(WINDOWS, SECONDS, RATE)
    cases = {
        "loop": lambda: user_loop(package, sounds),
        "ours": lambda: ours.embed_audio(sounds),
        "first": lambda: ours.embed_audio(sounds[:4]),
        "bf16": lambda: fast.embed_audio(sounds),
        "text padded": lambda: package.get_text_embedding(QUERY),
        "text ours": lambda: ours.embed_text(QUERY),
    }
    best: dict[str, float] = {}
    results = {}
    for name in ("ours", "text padded", "text ours"):
        cases[name]()  # once unmeasured: the first call of a layer allocates
    for _ in range(repeats):
        for name, work in cases.items():
            wall, processor, results[name] = timed(work)
            for kind, value in (("wall", wall), ("cpu", processor)):
                best[f"{name} {kind}"] = min(value, best.get(f"{name} {kind}", value))
    best["audio difference"] = float(np.abs(results["loop"] - results["ours"]).max())
    best["text difference"] = float(np.abs(results["text padded"] - results["text ours"]).max())
    best["bf16 difference"] = float(np.abs(results["bf16"] - results["ours"]).max())
    return best


def memory(amodel: str, case: str) -> dict[str, float]:
    """Resident memory of one way to embed the 17 windows, in GB, everything imported included.

    "loading" is the peak until the encoder stands, "peak" the peak from then on.
    """
    from backend.encoders.families import laion
    from tests.backend.encoders import tiny

    package = random_module(amodel)
    sounds = tiny.windows(WINDOWS, SECONDS, RATE)
    embed = package.get_audio_embedding_from_data
    if case == "ours":
        embed = laion.LaionEncoder("laion:random", package, "0" * 12).embed_audio
    loading = resident_peak()
    Path("/proc/self/clear_refs").write_text("5")  # Linux: start the peak anew
    embed(sounds)
    return {"loading": loading, "peak": resident_peak()}


def resident_peak() -> float:
    """Largest resident memory so far, in GB (Linux)."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1e6


def in_a_process(threads: int, *arguments: str) -> dict[str, float]:
    """This module run with a number of threads; the last line it prints."""
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "OMP_WAIT_POLICY": "PASSIVE", "HF_HUB_OFFLINE": "1"}
    command = [sys.executable, "-m", "tests.bench.bench_encoders", *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.strip().splitlines()[-1])


def report(amodel: str, threads: int, found: dict[str, float]) -> None:
    """Ratios, then what they are ratios of."""
    kind = "cpu" if threads == 1 else "wall"
    loop, ours = found[f"loop {kind}"], found[f"ours {kind}"]
    padded, text = found[f"text padded {kind}"], found[f"text ours {kind}"]
    print(f"{amodel}, {threads} thread{'s' * (threads > 1)}, {kind} seconds, load {os.getloadavg()[0]:.1f}")
    print(f"  17 windows   {ours:6.2f} / {loop:6.2f} of the user's loop = {ours / loop:.2f}   (bar 0.80)")
    print(f"  first points {found[f'first {kind}']:6.2f} s for 4 windows                  (bar 1 s, quiet machine)")
    print(f"  text query   {text:6.3f} / {padded:6.3f} of the padded call = {text / padded:.2f}   (bar 0.40)")
    print(f"  bf16, opt-in {found[f'bf16 {kind}']:6.2f} = {found[f'bf16 {kind}'] / loop:.2f} of the loop")
    print(
        f"  largest difference: audio {found['audio difference']:.1e}, text {found['text difference']:.1e}, "
        f"bf16 {found['bf16 difference']:.1e}"
    )


def main() -> None:
    """Run everything, or one case for the run that asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--base", action="store_true", help="HTSAT-base as well")
    parser.add_argument("--case", choices=("times", "ours", "batched"), help=argparse.SUPPRESS)
    parser.add_argument("--amodel", default="HTSAT-tiny", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.case == "times":
        print(json.dumps(compared(chosen.amodel, chosen.repeats)))
        return
    if chosen.case:
        print(json.dumps(memory(chosen.amodel, chosen.case)))
        return
    for amodel in ("HTSAT-tiny", "HTSAT-base")[: 1 + chosen.base]:
        for threads in (1, 2):
            arguments = ("--case", "times", "--amodel", amodel, "--repeats", str(chosen.repeats))
            report(amodel, threads, in_a_process(threads, *arguments))
        ours, batched = (in_a_process(1, "--case", case, "--amodel", amodel) for case in ("ours", "batched"))
        print(
            f"  memory       {ours['peak']:.2f} GB peak ({ours['loading']:.2f} while loading), batched with autograd "
            f"{batched['peak']:.2f} GB = {ours['peak'] / batched['peak']:.2f}   (bar 2 GB)"
        )


if __name__ == "__main__":
    main()
