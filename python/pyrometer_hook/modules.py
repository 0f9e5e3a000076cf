"""Forward of the outermost modules, and validation.

Only the classes of outermost modules get a `__call__` of ours, found once the first step is over
(by then models are compiled, wrapped for data parallelism and moved): nn.Module itself, all other
modules and what torch.compile, FX and TorchScript see of them stay as they are.
"""
import gc
import sys
import weakref
from threading import get_ident

from . import library as lib
from .patching import Patches, leave_no_trace
from .runtime import now, rt
from .steps import steps

_PART = "forward"
_VALIDATION = "validation"
_MAX_CLASSES = 8
_MAX_SCANS = 4
# Modules that are called from outside but compute no model.
_IGNORED = ("torch.nn.modules.loss", "torchmetrics", "torchvision.transforms")


class _Region:
    """From eval() of an outermost module on."""

    __slots__ = ("module", "start", "batches", "last")

    def __init__(self, module, start):
        self.module = weakref.ref(module)
        self.start = start
        self.batches = steps.total_batches
        self.last = 0  # end of the last forward or batch in it


class Modules:
    def __init__(self, torch):
        self.torch = torch
        self.tops = []  # weakrefs
        self.classes = weakref.WeakSet()  # that have our __call__
        self.active = set()  # idents of threads inside an outermost forward
        self.region = None
        self.chain_start = 0  # forwards under no_grad without eval(): first start, last end
        self.chain_last = 0
        self.chain_batches = 0
        self.scans = 0
        self.scanned_optimizers = -1
        self.patches = Patches()
        self.train_patches = Patches()
        self.train_owner = 0
        self.forwards = 0

    # -- which modules are outermost -------------------------------------------------------------

    def scan(self, time=0):
        """Looks for outermost modules; again when there are new optimizers."""
        optimizers = len(getattr(rt, "optimizers", ()))
        if self.scans >= _MAX_SCANS or optimizers == self.scanned_optimizers:
            return
        self.scans += 1
        self.scanned_optimizers = optimizers
        try:
            for module in self._outermost():
                self._add(module)
        except Exception:
            rt.failed(_PART)

    def _outermost(self):
        module_class = self.torch.nn.Module
        classes = _all_subclasses(module_class)
        modules = [item for item in gc.get_objects() if id(type(item)) in classes]
        inside = set()
        for module in modules:
            for child in module.__dict__.get("_modules", {}).values():
                inside.add(id(child))
        tops = [module for module in modules if id(module) not in inside]
        found = []
        for module in tops:
            if type(module).__module__.startswith(_IGNORED):
                continue
            children = [child for child in module._modules.values() if child is not None]
            if hasattr(type(module), "training_step"):  # Lightning calls that, not the module
                found.extend(child for child in children if _has_parameters(child))
            if _has_parameters(module):
                found.append(module)
        return found

    def _add(self, module):
        known = [ref() for ref in self.tops]
        if any(module is other for other in known):
            return
        self.tops = [ref for ref in self.tops if ref() is not None]
        self.tops.append(weakref.ref(module))
        kind = type(module)
        if kind in self.classes or len(self.classes) >= _MAX_CLASSES:
            return
        if issubclass(kind, self.torch.jit.ScriptModule):
            return
        self.classes.add(kind)
        if "__call__" in vars(kind):
            self.patches.wrap(kind, "__call__", lambda saved: self._make_call(kind, saved), False)
        else:
            call = self._make_call(kind, None)
            call.__module__ = "torch.nn.modules.module"
            call.__qualname__ = "Module.__call__"
            self.patches.add(kind, "__call__", call)

    def _make_call(self, kind, saved):
        is_compiling = self.is_compiling
        active = self.active

        def __call__(self, *args, **kwargs):
            if is_compiling():  # first: nothing else may be traced
                if saved is not None:
                    return saved(self, *args, **kwargs)
                return super(kind, self).__call__(*args, **kwargs)
            thread = get_ident()
            if thread in active or not rt.on:
                if saved is not None:
                    return saved(self, *args, **kwargs)
                return super(kind, self).__call__(*args, **kwargs)
            active.add(thread)
            phase = rt.phase[0]
            rt.phase[0] = lib.PHASE_FORWARD
            start = now()
            try:
                if saved is not None:
                    return saved(self, *args, **kwargs)
                return super(kind, self).__call__(*args, **kwargs)
            except BaseException as error:
                leave_no_trace(error)
                raise
            finally:
                end = now()
                active.discard(thread)
                rt.phase[0] = phase
                after(self, start, end)

        after = self._after_forward
        return __call__

    # -- forwards --------------------------------------------------------------------------------

    def _after_forward(self, module, start, end):
        try:
            grad = self.is_grad_enabled()
            name = self._names.get(type(module)) or self._name(module)
            rt.emit(lib.FORWARD, 0 if grad else lib.NO_GRAD, name, start, end)
            if not steps.start:
                steps.start = start
            if grad and (self.region is None or module.training):
                if self.region is not None:
                    self.end_region(self.region.last, lib.ESTIMATED)
                if self.chain_start:
                    self.end_chain()
                if steps.pending:
                    steps.trained()
            else:
                if self.region is not None:
                    self.region.last = end
                elif not self.chain_start:
                    self.chain_start = start
                    self.chain_batches = steps.total_batches
                self.chain_last = end
                steps.evaluated = True
                if not steps.has_optimizer:
                    steps.forward_ended(end)
            self.forwards += 1
            if self.forwards & 255 < 3:
                self._autocast()
        except Exception:
            rt.failed(_PART)

    _names = {}

    def _name(self, module):
        kind = type(module)
        name = self._names.get(kind)
        if name is None:
            name = self._names[kind] = rt.name(kind.__name__)
        return name

    def _autocast(self):
        torch = self.torch
        if not torch.is_autocast_enabled():
            rt.info("autocast.seen", "none")
        elif hasattr(torch, "get_autocast_dtype"):
            rt.info("autocast.seen", torch.get_autocast_dtype("cuda"))
        else:
            rt.info("autocast.seen", torch.get_autocast_gpu_dtype())

    # -- validation ------------------------------------------------------------------------------

    def switched(self, module, mode, time):
        """train(mode) was called on `module` from outside any other such call."""
        if self.tops and not any(module is ref() for ref in self.tops):
            return
        region = self.region
        if not mode and region is None:
            if self.tops or module._modules:
                self.region = _Region(module, time)
                steps.in_validation = True
        elif mode and region is not None:
            self.end_region(time, 0)

    def end_region(self, end, flags):
        region, self.region = self.region, None
        steps.in_validation = False
        if region is None:
            return
        used = region.last or steps.total_batches > region.batches
        if used and end > region.start and steps.has_optimizer:
            rt.emit(lib.VALIDATION, flags, 0, region.start, end)
        self.chain_start = 0

    def end_chain(self):
        """Forwards under no_grad over at least two batches were a validation without eval()."""
        start, self.chain_start = self.chain_start, 0
        if steps.total_batches - self.chain_batches >= 1 and steps.has_optimizer:
            rt.emit(lib.VALIDATION, lib.ESTIMATED, 0, start, self.chain_last)

    def stepped(self):
        """An optimizer stepped inside a region: it ended unseen, or training is in eval mode."""
        region = self.region
        if region is not None:
            self.end_region(region.last or region.start, lib.ESTIMATED)

    def close(self):
        region = self.region
        if region is not None and region.last:
            self.end_region(region.last, lib.ESTIMATED)
        elif self.chain_start:
            self.end_chain()

    # -- what the model is -----------------------------------------------------------------------

    def describe(self):
        torch = self.torch
        for number, ref in enumerate(self.tops[:4]):
            module = ref()
            if module is None:
                continue
            prefix = "model.%d." % number
            rt.info(prefix + "class", type(module).__name__)
            rt.info(prefix + "compiled", type(module).__name__ == "OptimizedModule"
                    or getattr(module, "_compiled_call_impl", None) is not None)
            count, trainable, kinds, last = 0, 0, {}, "none"
            for parameter in module.parameters():
                size = parameter.numel()
                count += size
                trainable += size if parameter.requires_grad else 0
                kinds[str(parameter.dtype)] = kinds.get(str(parameter.dtype), 0) + size
                if parameter.dim() == 4 and min(parameter.shape[1:]) > 1 and last != "yes":
                    last = "yes" if parameter.is_contiguous(
                        memory_format=torch.channels_last) else "no"
            rt.info(prefix + "parameters", count)
            rt.info(prefix + "trainable", trainable)
            rt.info(prefix + "dtype", max(kinds, key=kinds.get) if kinds else "none")
            rt.info(prefix + "channels_last", last)
            _describe_parallel(module, prefix)


def _describe_parallel(module, prefix):
    name = type(module).__name__
    inner = getattr(module, "_orig_mod", module)
    if type(inner).__name__ == "DistributedDataParallel":
        cap = getattr(inner, "bucket_bytes_cap", None)
        if isinstance(cap, int):
            rt.info(prefix + "ddp.bucket_cap_mb", cap >> 20)
        for key in ("find_unused_parameters", "static_graph", "gradient_as_bucket_view"):
            rt.info(prefix + "ddp." + key, getattr(inner, key, "unknown"))
        rt.info(prefix + "parallel", "DistributedDataParallel")
    elif name == "DataParallel":
        rt.info(prefix + "parallel", "DataParallel %d" % len(module.device_ids))
    elif name.startswith("FSDP") or name == "FullyShardedDataParallel":
        rt.info(prefix + "parallel", "FSDP")
    else:
        rt.info(prefix + "parallel", "none")


def _all_subclasses(kind):
    """ids of `kind` and its subclasses: a metaclass may forbid hashing."""
    found, todo = {id(kind)}, [kind]
    while todo:
        for child in type.__subclasses__(todo.pop()):
            if id(child) not in found:
                found.add(id(child))
                todo.append(child)
    return found


def _has_parameters(module):
    return next(module.parameters(), None) is not None


def _wrap_train(modules, is_compiling):
    def make(original):
        def train(self, *args, **kwargs):
            if is_compiling() or not rt.on or modules.train_owner == get_ident():
                return original(self, *args, **kwargs)
            modules.train_owner = get_ident()
            start = now()
            try:
                result = original(self, *args, **kwargs)
            except BaseException as error:
                leave_no_trace(error)
                raise
            finally:
                modules.train_owner = 0
            try:
                if rt.attached:
                    modules.switched(self, self.training, start)
            except Exception:
                rt.failed(_VALIDATION)
            return result

        return train

    return make


def install(torch, finder):
    from .start import is_compiling_function

    modules = Modules(torch)
    modules.is_compiling = is_compiling_function(torch)
    modules.is_grad_enabled = torch.is_grad_enabled
    if "torch._dynamo" in sys.modules and not hasattr(torch, "compiler"):
        rt.off(_PART, "torch 2.0's compiler cannot be told from eager code")
        return

    def undo():
        modules.patches.undo()
        modules.scans = _MAX_SCANS
        steps.in_validation = False
        modules.region = None

    rt.modules = modules
    rt.part_off[_PART] = undo
    rt.part_off[_VALIDATION] = modules.train_patches.undo
    rt.at_end.append(modules.close)
    modules.train_patches.wrap(
        torch.nn.Module, "train", _wrap_train(modules, modules.is_compiling), hide=False)

    def first():
        modules.scan()
        describe()

    def again(time):
        before = len(modules.tops)
        modules.scan()
        if len(modules.tops) != before:
            describe()

    describe = rt.guarded("model", modules.describe)
    steps.at_first.append(first)
    steps.at_boundary.append(again)
    steps.stepped_in_validation = modules.stepped
