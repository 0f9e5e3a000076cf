"""What each case declares about itself: the lines below "Truth" in the docstring of its script."""
import ast
import fnmatch
import json
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
CASES = HERE / "cases"
CATALOG = HERE.parent.parent / "catalog" / "findings.json"

CLASSES = ("input", "transfer", "sync", "launch", "precision", "layout", "compile", "allocator",
           "host", "pauses", "device", "ranks", "control")
LAUNCHES = ("python", "torchrun")


class TruthError(ValueError):
    """A script whose truth cannot be read; says which and why."""


@dataclass
class Truth:
    """The truth of one script. An id is that of a finding of catalog/findings.json."""
    name: str
    script: Path
    story: str                                  # first line of the docstring
    kind: str = ""                              # one of CLASSES
    report: str = ""                            # ids of shared reports that it follows, or "own"
    causes: list = field(default_factory=list)  # each a tuple of ids that name the same cause
    also: list = field(default_factory=list)    # patterns: true beside the cause, not asked for
    never: list = field(default_factory=list)   # patterns: wrong advice here
    fix: str = ""                               # what --fixed does; empty: there is nothing to fix
    gpus: int = 1
    launch: tuple = ("python", "python")        # planted, fixed
    beside: str = ""                            # script that runs beside the planted one
    cpu_quota: float = 0                        # cores that the planted one gets; 0: no limit
    needs: list = field(default_factory=list)   # modules; "compile" for torch.compile; "cuda"
    cpu: bool = False                           # whether a machine without a GPU shows the cause
    period: int = 1                             # a run has a multiple of so many steps
    predict: str = ""                           # why no prediction is held against the fix

    @property
    def control(self):
        return not self.causes

    def accepts(self, finding):
        """Whether a finding above information is neither a cause nor invented."""
        return any(fnmatch.fnmatchcase(finding, pattern) for pattern in self.also)

    def forbids(self, finding):
        return any(fnmatch.fnmatchcase(finding, pattern) for pattern in self.never)


def _launch(value):
    words = value.split()
    if not 1 <= len(words) <= 2 or set(words) - set(LAUNCHES):
        raise ValueError(f"one or two of {', '.join(LAUNCHES)} expected")
    return (words[0], words[-1])


def _judged(value):
    if value != "judged":
        raise ValueError("only 'judged' is known")
    return True


def _positive(convert):
    def read(value):
        number = convert(value)
        if number <= 0:
            raise ValueError("a positive number expected")
        return number
    return read


def _causes(value):
    return [] if value == "none" else [tuple(word.split("|")) for word in value.split()]


KEYS = {
    "report": ("report", str), "class": ("kind", str), "causes": ("causes", _causes),
    "also": ("also", str.split), "never": ("never", str.split),
    "fix": ("fix", lambda value: "" if value == "none" else value),
    "gpus": ("gpus", _positive(int)), "launch": ("launch", _launch), "beside": ("beside", str),
    "cpu_quota": ("cpu_quota", _positive(float)), "needs": ("needs", str.split),
    "cpu": ("cpu", _judged), "period": ("period", _positive(int)), "predict": ("predict", str),
}
REQUIRED = ("report", "class", "causes", "fix")


def parse(name, docstring, script=None):
    """The Truth that a docstring declares. A line that is indented further continues the last."""
    lines = (docstring or "").splitlines()
    stripped = [line.strip() for line in lines]
    if "Truth" not in stripped:
        raise TruthError(f"{name}: its docstring has no line 'Truth'")
    at = stripped.index("Truth")
    pairs, indent = [], None
    for line in lines[at + 1:]:
        if not line.strip():
            continue
        here = len(line) - len(line.lstrip())
        indent = here if indent is None else indent
        if here > indent and pairs:
            pairs[-1][1] += " " + line.strip()
            continue
        key, colon, value = line.strip().partition(":")
        if not colon:
            raise TruthError(f"{name}: 'key: value' expected: {line.strip()}")
        pairs.append([key, value.strip()])
    truth, seen = Truth(name, script, stripped[0]), set()
    for key, value in pairs:
        if key not in KEYS or key in seen or not value:
            raise TruthError(f"{name}: {key}: " + ("unknown key" if key not in KEYS else
                                                   "given twice" if key in seen else "no value"))
        seen.add(key)
        attribute, convert = KEYS[key]
        try:
            setattr(truth, attribute, convert(value))
        except ValueError as error:
            raise TruthError(f"{name}: {key}: {error}") from None
    missing = [key for key in REQUIRED if key not in seen]
    if missing:
        raise TruthError(f"{name}: missing: {', '.join(missing)}")
    if truth.kind not in CLASSES:
        raise TruthError(f"{name}: class: {truth.kind} is none of {', '.join(CLASSES)}")
    if truth.control != (truth.kind == "control"):
        raise TruthError(f"{name}: controls, and they alone, have 'causes: none'")
    return truth


def read(script):
    script = Path(script)
    return parse(script.stem, ast.get_docstring(ast.parse(script.read_text(encoding="utf-8"))),
                 script)


def read_all(folder=CASES):
    """The truths of all scripts, sorted by name."""
    return [read(path) for path in sorted(Path(folder).glob("*.py"))]


def known_findings(catalog=CATALOG):
    return {f["id"] for f in json.loads(Path(catalog).read_text(encoding="utf-8"))["findings"]}


def unknown_ids(truths, known):
    """(case, id or pattern) of what no finding of the catalogue answers to."""
    return [(truth.name, word) for truth in truths
            for word in [i for cause in truth.causes for i in cause] + truth.also + truth.never
            if not fnmatch.filter(known, word)]


def balanced(truths):
    """The order in which a run that is cut short still has something of every class.

    One case of each class in turn; as a third of the cases would otherwise be missing their
    counterpart, every third case is a control as long as there are some.
    """
    rows = {kind: [t for t in truths if t.kind == kind] for kind in CLASSES}
    controls, planted = rows.pop("control"), []
    while any(rows.values()):
        planted += [row.pop(0) for row in rows.values() if row]
    ordered = []
    for number, truth in enumerate(planted):
        ordered.append(truth)
        if number % 3 == 2 and controls:
            ordered.append(controls.pop(0))
    return ordered + controls
