"""Optimizer.step and zero_grad, and the updates that GradScaler skips.

torch 2: the global hooks made for this. torch 1.13: each optimizer class's step is wrapped when
the first of its instances is made.
"""
import sys
import weakref

from . import library as lib
from .patching import Patches, leave_no_trace
from .runtime import now, rt
from .steps import steps

_PART = "optimizer"


_STALE = 50  # steps of others after which the outermost one must have raised


class _Open:
    """The outermost step under way. Steps inside it (wrapping optimizers) do not count."""

    def __init__(self):
        self.current = 0  # id of its optimizer, 0: none
        self.start = 0
        self.phase = lib.PHASE_HOST
        self.ignored = 0
        self.finished = 0  # steps so far, to tell a skipped one
        self.skipped = 0  # updates that GradScaler left out
        self.scaled = False  # a GradScaler was used
        self.optimizers = weakref.WeakSet()

    def begin(self, optimizer):
        key = id(optimizer)
        if self.current and self.current != key:
            self.ignored += 1
            if self.ignored < _STALE:
                return
        else:
            self.phase = rt.phase[0]
        self.current = key
        self.ignored = 0
        rt.phase[0] = lib.PHASE_OPTIMIZER
        self.start = now()

    def end(self, optimizer):
        if self.current != id(optimizer):
            return
        end = now()
        self.current = 0
        rt.phase[0] = self.phase
        self.finished += 1
        name = _names.get(type(optimizer)) or _class_name(optimizer)
        rt.emit(lib.OPTIMIZER, 0, name, self.start, end)
        steps.optimizer_stepped(optimizer, end)


_names = {}


def _class_name(optimizer):
    kind = type(optimizer)
    name = _names.get(kind)
    if not name:
        name = rt.name(kind.__name__)
        if name and len(_names) < 100:
            _names[kind] = name
    return name


def _wrap_init(state, on_new):
    def make(original):
        def __init__(self, *args, **kwargs):
            try:
                original(self, *args, **kwargs)
            except BaseException as error:
                leave_no_trace(error)
                raise
            try:
                steps.has_optimizer = True
                state.optimizers.add(self)
                on_new(self)
            except Exception:
                rt.failed(_PART)

        return __init__

    return make


def _wrap_step(state):
    def make(original):
        def step(self, *args, **kwargs):
            if not rt.on:
                return original(self, *args, **kwargs)
            try:
                state.begin(self)
            except Exception:
                rt.failed(_PART)
            try:
                result = original(self, *args, **kwargs)
            except BaseException as error:
                leave_no_trace(error)
                raise
            try:
                state.end(self)
            except Exception:
                rt.failed(_PART)
            return result

        return step

    return make


def _wrap_zero_grad(is_compiling):
    def make(original):
        def zero_grad(self, *args, **kwargs):
            if is_compiling() or not rt.on:
                return original(self, *args, **kwargs)
            start = now()
            try:
                result = original(self, *args, **kwargs)
            except BaseException as error:
                leave_no_trace(error)
                raise
            if steps.start:  # before the first step nothing is worth recording
                rt.emit(lib.ZERO_GRAD, 0, 0, start, now())
            return result

        return zero_grad

    return make


def _wrap_scaler_step(state):
    def make(original):
        def step(self, optimizer, *args, **kwargs):
            if not rt.on:
                return original(self, optimizer, *args, **kwargs)
            finished = state.finished
            if not state.scaled:
                state.scaled = True
                rt.info("amp.grad_scaler", True)
            start = now()
            try:
                result = original(self, optimizer, *args, **kwargs)
            except BaseException as error:
                leave_no_trace(error)
                raise
            try:
                if state.finished == finished and not state.current:
                    end = now()
                    state.skipped += 1
                    rt.counter("amp.skipped_updates", state.skipped, end)
                    rt.emit(lib.OPTIMIZER, lib.SKIPPED, _class_name(optimizer), start, end)
                    steps.optimizer_stepped(optimizer, end, lib.SKIPPED)
            except Exception:
                rt.failed(_PART)
            return result

        return step

    return make


def _global_hooks(module, state, patches, is_compiling):
    """torch 2.0+. Returns the function that removes them."""

    def before(optimizer, args, kwargs):
        if is_compiling() or not rt.on:
            return
        try:
            state.begin(optimizer)
        except Exception:
            rt.failed(_PART)

    def after(optimizer, args, kwargs):
        if is_compiling() or not rt.on:
            return
        try:
            state.end(optimizer)
        except Exception:
            rt.failed(_PART)

    handles = [
        module.register_optimizer_step_pre_hook(before),
        module.register_optimizer_step_post_hook(after),
    ]

    def undo():
        for handle in handles:
            handle.remove()
        patches.undo()

    return undo


def install(torch, finder):
    from .start import is_compiling_function

    is_compiling = is_compiling_function(torch)
    state = _Open()
    patches = Patches()
    module = sys.modules["torch.optim.optimizer"]  # 1.13 deletes the attribute of torch.optim
    optimizer_class = module.Optimizer
    if hasattr(module, "register_optimizer_step_pre_hook") and hasattr(
            module, "register_optimizer_step_post_hook"):
        rt.part_off[_PART] = _global_hooks(module, state, patches, is_compiling)
        on_new = _nothing
    else:
        rt.part_off[_PART] = patches.undo

        def on_new(optimizer):
            kind = type(optimizer)
            step = vars(kind).get("step")
            if callable(step) and not getattr(step, "_pyrometer", False):
                patches.wrap(kind, "step", _wrap_step(state))
                vars(kind)["step"]._pyrometer = True

    patches.wrap(optimizer_class, "__init__", _wrap_init(state, on_new))
    patches.wrap(optimizer_class, "zero_grad", _wrap_zero_grad(is_compiling), hide=False)
    for scaler in scalers(torch):
        patches.wrap(scaler, "step", _wrap_scaler_step(state))
    rt.optimizers = state.optimizers
    rt.optimizer_state = state


def _nothing(optimizer):
    pass


def scalers(torch):
    """The GradScaler classes that define step themselves."""
    found = []
    for path in ("amp", "cuda.amp", "distributed.fsdp.sharded"):
        module = sys.modules.get("torch.%s_grad_scaler" % path) or sys.modules.get(
            "torch.%s.grad_scaler" % path)
        if module is None:
            continue
        for kind in vars(module).values():
            if isinstance(kind, type) and kind.__name__.endswith("GradScaler") and kind not in found:
                if "step" in vars(kind):
                    found.append(kind)
    return found
