#!/usr/bin/env python3
"""Makes regression data of recorded traces: drops what no analysis reads, compresses with zstd.

usage: bench/traces/shrink.py IN_FOLDER OUT_FOLDER

Keeps every event of an analysed category with its times, names, ids and the arguments that analyses
read; drops flows, strides, concrete inputs and bookkeeping arguments. Needs the `zstd` command.
"""
import gzip
import json
import pathlib
import subprocess
import sys

DROPPED_ARGUMENTS = {
    "Concrete Inputs", "Input Strides", "Ev Idx", "Record function id", "Fwd thread id",
    "Sequence number", "queued", "context", "warps per SM", "memory bandwidth (GB/s)", "cbid",
    "External id", "Python parent id", "Python id", "Python module id", "Addr",
}
# Only these keep their shapes: the others are not looked at.
SHAPED = ("aten::to", "aten::_to_copy", "aten::copy_", "aten::conv", "aten::mm", "aten::addmm",
          "aten::bmm", "aten::linear", "aten::embedding", "aten::cudnn_convolution")
DROPPED_CATEGORIES = {"ac2g", "fwdbwd", "gpu_user_annotation"}


def shrink(event):
    arguments = event.get("args")
    if arguments:
        for key in DROPPED_ARGUMENTS & arguments.keys():
            del arguments[key]
        if not event["name"].startswith(SHAPED):
            arguments.pop("Input Dims", None)
            arguments.pop("Input type", None)
        if not arguments:
            del event["args"]
    return event


def main() -> int:
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    source, target = map(pathlib.Path, sys.argv[1:])
    target.mkdir(parents=True, exist_ok=True)
    for path in sorted(source.glob("*.trace.json.gz")):
        trace = json.loads(gzip.decompress(path.read_bytes()))
        trace["traceEvents"] = [shrink(event) for event in trace["traceEvents"]
                                if event.get("cat") not in DROPPED_CATEGORIES]
        text = json.dumps(trace, separators=(",", ":")).encode()
        out = target / (path.name.removesuffix(".gz") + ".zst")
        subprocess.run(["zstd", "-q", "-f", "-19", "-o", str(out)], input=text, check=True)
        print(f"{out.name}: {path.stat().st_size // 1024} KB to {out.stat().st_size // 1024} KB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
