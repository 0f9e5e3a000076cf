"""Numbers about a stretch of samples."""
import math
from typing import Dict, Iterator, List, Mapping, Optional, Sequence

LONGEST_GAP = 10.0  # s: power is not taken for known over longer ones


class Statistic:
    """What is known of one field in a stretch of time, in the field's unit. Missing samples do not
    count."""

    __slots__ = ("_sorted", "mean")

    def __init__(self, values: Sequence[float]) -> None:
        self._sorted = sorted(values)
        self.mean: Optional[float] = math.fsum(values) / len(values) if values else None
        """Mean of the samples; None where there are none."""

    @property
    def count(self) -> int:
        """How many samples had a value."""
        return len(self._sorted)

    @property
    def min(self) -> Optional[float]:
        return self._sorted[0] if self._sorted else None

    @property
    def max(self) -> Optional[float]:
        return self._sorted[-1] if self._sorted else None

    def percentile(self, percent: float) -> Optional[float]:
        """`percent` from 0 to 100; between two samples linearly. None where there are none."""
        if not 0 <= percent <= 100:
            raise ValueError("percent has to be from 0 to 100, is %r" % (percent,))
        if not self._sorted:
            return None
        place = (len(self._sorted) - 1) * percent / 100
        low = int(place)
        high = min(low + 1, len(self._sorted) - 1)
        return self._sorted[low] + (self._sorted[high] - self._sorted[low]) * (place - low)

    def __repr__(self) -> str:
        return "Statistic(count=%d, mean=%r, min=%r, max=%r)" % (
            self.count, self.mean, self.min, self.max)


class GpuStatistics(Mapping[str, Statistic]):
    """Statistics of one GPU by field: statistics["power"].mean. All numbers of Gpu are there."""

    def __init__(self, label: str, name: Optional[str], times: List[float],
                 fields: Dict[str, List[float]]) -> None:
        """`fields`: a value for each time, not a number where it is missing."""
        self.label = label
        """As Gpu.label, of the last sample."""
        self.name = name
        self.samples = len(times)
        """How many samples of the GPU lie in the stretch."""
        self.start = times[0] if times else None
        """Time of the first of them, seconds since 1970."""
        self.end = times[-1] if times else None
        self._fields = {
            name: Statistic([v for v in values if not math.isnan(v)])
            for name, values in fields.items()}
        self.energy: Optional[float] = None
        """Energy between the first and the last sample, J; None: not known."""
        self.energy_source: Optional[str] = None
        """"meter": the board's own; "power": integrated over the power of the samples."""
        self._add_energy(times, fields["energy"], fields["power"])

    def _add_energy(self, times: List[float], meter: List[float], power: List[float]) -> None:
        known = [value for value in meter if not math.isnan(value)]
        if len(known) > 1 and not math.isnan(meter[0]) and not math.isnan(meter[-1]):
            # The meter begins anew when the driver is loaded: what fell counts from 0.
            steps = (b - a if b >= a else b for a, b in zip(known, known[1:]))
            self.energy, self.energy_source = math.fsum(steps), "meter"
            return
        parts = [(t1 - t0) * (p0 + p1) / 2
                 for t0, t1, p0, p1 in zip(times, times[1:], power, power[1:])
                 if 0 < t1 - t0 <= LONGEST_GAP and not math.isnan(p0) and not math.isnan(p1)]
        if parts:
            self.energy, self.energy_source = math.fsum(parts), "power"

    def __getitem__(self, field: str) -> Statistic:
        return self._fields[field]

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)

    def __repr__(self) -> str:
        return "GpuStatistics(%r, samples=%d, energy=%r)" % (self.label, self.samples, self.energy)
