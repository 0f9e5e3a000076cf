"""A simulated machine for `pyrometer top`: GPUs by the stub NVML, processes below a /proc of its own."""
import os
import pathlib

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent


def stub_nvml(program: pathlib.Path) -> pathlib.Path:
    return program.resolve().parents[2] / "tests" / "stub_nvml"


def add_process(root: pathlib.Path, pid: int, parent: int, uid: int, command: bytes, start: int,
                resident: int, cgroup: str = "/user.slice") -> None:
    folder = root / "proc" / str(pid)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "status").write_text(f"Uid:\t{uid}\t{uid}\t{uid}\t{uid}\n")
    (folder / "cmdline").write_bytes(command)
    (folder / "comm").write_bytes(command.split(b"\0")[0][-15:] + b"\n")
    (folder / "cgroup").write_text(f"0::{cgroup}\n")
    (folder / "stat").write_text(f"{pid} (x) S {parent} 1 1 0 -1 0 0 0 0 0 900 100 0 0 20 0 9 0 {start} 0 {resident} 0\n")


def make(folder: pathlib.Path, world: str, processes=()) -> None:
    """`processes`: arguments of add_process() after the root."""
    (folder / "world").write_text(world)
    (folder / "proc/self/ns").mkdir(parents=True, exist_ok=True)
    if not (folder / "proc/self/ns/pid").is_symlink():
        (folder / "proc/self/ns/pid").symlink_to("pid:[4026531836]")
    (folder / "etc").mkdir(exist_ok=True)
    (folder / "etc/passwd").write_text("root:x:0:0::/root:/bin/sh\nalice:x:1000:1000::/:/bin/sh\nbob:x:1001:1001::/:/bin/sh\n")
    (folder / "proc/uptime").write_text("100000.00 1.00\n")
    for process in processes:
        add_process(folder, *process)


def environment(program: pathlib.Path, folder: pathlib.Path, **more: str) -> dict[str, str]:
    """Nothing of the caller's settings may change what is shown."""
    kept = {k: v for k, v in os.environ.items() if k.endswith("SAN_OPTIONS") or k == "PATH"}
    return kept | {
        "HOME": str(folder), "LANG": "C.UTF-8", "TERM": "xterm-256color", "TZ": "UTC",
        "LD_LIBRARY_PATH": str(stub_nvml(program)), "PYROMETER_STUB_NVML": str(folder / "world"),
    } | more
