#!/usr/bin/env python3
"""How often `compare` and `try` call a real training different from itself.

usage: bench/aa/real.py [--program FILE] [--python FILE] [--pairs N] [--tries N] [--seconds S]

A small training on the CPU runs again and again, unchanged. Recordings next to each other in time
are compared, one run each and three runs each; `try` gets an override that does nothing there
(CUDA_MODULE_LOADING on a CPU), so that each verdict but "same" or "undecided" is an error.
"""
import argparse
import json
import pathlib
import subprocess
import tempfile

TRAINING = """
import sys, time, torch
torch.set_num_threads(1)
model = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 10))
optimizer = torch.optim.Adam(model.parameters())
data = torch.utils.data.TensorDataset(torch.randn(400000, 256), torch.randint(10, (400000,)))
end = time.monotonic() + float(sys.argv[1])
for x, y in torch.utils.data.DataLoader(data, batch_size=64):
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()
    if time.monotonic() > end:
        break
"""


def differs(program, *paths):
    """Whether compare is sure that the time per sample differs, and by how much."""
    done = subprocess.run([program, "compare", "--json", *paths], stdout=subprocess.PIPE, check=True)
    sample = json.loads(done.stdout)["sample_ns"]
    return sample["sure"], sample["ratio"]["value"]


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--program", default="pyrometer")
    options.add_argument("--python", default="python3")
    options.add_argument("--pairs", type=int, default=100)
    options.add_argument("--tries", type=int, default=20)
    options.add_argument("--seconds", type=float, default=3)
    asked = options.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="aa-"))
    script = folder / "train.py"
    script.write_text(TRAINING)
    runs = []
    for number in range(2 * asked.pairs):
        runs.append(str(folder / f"{number}.pyro"))
        subprocess.run([asked.program, "run", "-q", "-o", runs[-1], "--", asked.python, str(script),
                        str(asked.seconds)], check=True)
    single = [differs(asked.program, a, b) for a, b in zip(runs[::2], runs[1::2])]
    groups = []
    for first in range(0, len(runs) - 5, 6):
        # Alternating, as one would run them.
        six = runs[first:first + 6]
        words = [w for a in six[::2] for w in ("--a", a)] + [w for b in six[1::2] for w in ("--b", b)]
        groups.append(differs(asked.program, *words))
    verdicts = []
    for _ in range(asked.tries):
        done = subprocess.run([asked.program, "try", "--json", "-q", "--budget", "45s", "--trial-time",
                               "1s", "--fix", "env.CUDA_MODULE_LOADING=LAZY", "--", asked.python,
                               str(script), "1000"], stdout=subprocess.PIPE, check=True)
        verdicts.append(json.loads(done.stdout)["fixes"][0]["verdict"])

    def row(name, results):
        wrong = sum(sure for sure, _ in results)
        largest = max(abs(ratio - 1) for _, ratio in results) if results else 0
        print(f"| {name} | {len(results)} | {wrong} | {largest:.1%} |")

    print("| | pairs | called different | largest difference measured |")
    print("|---|---:|---:|---:|")
    row("compare, one run each", single)
    row("compare, three runs each", groups)
    wrong = sum(verdict in ("gain", "slower") for verdict in verdicts)
    print(f"| try, run against run | {len(verdicts)} | {wrong} | "
          + ", ".join(f"{verdicts.count(v)} {v}" for v in sorted(set(verdicts))) + " |")


if __name__ == "__main__":
    main()
