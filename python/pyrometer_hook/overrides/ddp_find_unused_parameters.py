"""ddp.find_unused_parameters: off, once ten steps have shown that every rank uses every parameter.

A DistributedDataParallel that does not search, and finds a parameter without gradient, stops the
training. So the program's own choice holds at first; each rank looks which parameters get a
gradient in each of its backwards, then all ranks are asked (one reduction of one number), and
where all say yes, each makes its DDP anew around the same module, in place. The ranks come to
that at the same optimizer step, as each step has reductions that they share.
"""
import inspect
import weakref

from ..patching import Patches
from ..runtime import rt
from .override import Override, Refused

_WATCHED = 10  # optimizer steps
_FEWEST = 3  # of them with a backward that was seen whole
_NAMED = 3  # parameters in the reason


class FindUnused(Override):
    def install(self, torch, finder):
        kind = getattr(torch.nn.parallel, "DistributedDataParallel", None)
        if kind is None or not torch.distributed.is_available():
            raise Refused("this torch has no DistributedDataParallel")
        self.torch = torch
        self.kind = kind
        self.signature = inspect.signature(kind.__init__)
        if "find_unused_parameters" not in self.signature.parameters:
            raise Refused("this torch's DistributedDataParallel has no find_unused_parameters")
        self.watch = None
        self.with_hook = weakref.WeakSet()  # modules that have a communication hook
        self.backward_patches = Patches()

        def make(original):
            def __init__(module, *args, **kwargs):
                original(module, *args, **kwargs)
                if self.on and not self.is_off:
                    self.guard(self.made, original, module, args, kwargs)

            return __init__

        def make_hook(original):
            def register_comm_hook(module, *args, **kwargs):
                self.with_hook.add(module)
                return original(module, *args, **kwargs)

            return register_comm_hook

        self.patches.wrap(kind, "__init__", make)
        self.patches.wrap(kind, "register_comm_hook", make_hook)
        self.waiting("for a DistributedDataParallel to be made")

    def made(self, original, module, args, kwargs):
        if self.watch is not None:
            raise Refused("there are several DistributedDataParallel")
        if not module.find_unused_parameters:
            raise Refused("find_unused_parameters is False already")
        if getattr(module, "static_graph", False):
            raise Refused("static_graph is set, which searches in the first step alone")
        if type(module) is not self.kind:
            raise Refused("it is a class of the program's own")
        if getattr(module, "mixed_precision", None) or getattr(module, "_use_python_reducer", False):
            raise Refused("its reductions are made by torch's newer ways")
        state = rt.optimizer_state
        if state is None:
            raise Refused("optimizer steps are not seen")
        bound = self.signature.bind(module, *args, **kwargs)
        bound.arguments["find_unused_parameters"] = False
        self.watch = _Watch(module, original, bound)
        self.backward_patches.wrap(self.torch.autograd, "backward", self.watch.around_backward)
        begin = state.begin

        def begin_and_look(optimizer):
            if self.watch is not None and not self.watch.is_over:
                self.guard(self.step_begins)
            begin(optimizer)

        state.begin = begin_and_look
        self.waiting("for %d steps in which every parameter has a gradient" % _WATCHED)

    def step_begins(self):
        watch = self.watch
        watch.steps += 1
        if watch.steps < _WATCHED:
            return
        watch.is_over = True
        self.backward_patches.undo()
        watch.let_go()
        module = watch.module()
        if module is None:
            raise Refused("the DistributedDataParallel is gone")
        reason = watch.reason()
        hooked = module in self.with_hook or getattr(module, "_comm_hooks", None)
        if not reason and hooked:
            reason = "it has a communication hook"
        if not reason and not module.require_backward_grad_sync:
            reason = "the program uses no_sync() when it updates"
        torch = self.torch
        flag = torch.tensor([0 if reason else 1], device=next(module.parameters()).device)
        torch.distributed.all_reduce(flag, op=torch.distributed.ReduceOp.MIN,
                                     group=module.process_group)
        if not int(flag):
            raise Refused(reason or "on another rank a parameter was left without gradient")
        watch.renew(torch, module)
        self.applied("find_unused_parameters True -> False after %d steps" % watch.steps)

    def undo(self):
        super().undo()
        if getattr(self, "watch", None) is not None:
            self.backward_patches.undo()
            self.watch.let_go()


class _Watch:
    """Which parameters of a DDP get a gradient."""

    def __init__(self, module, construct, bound):
        self.module = weakref.ref(module)
        self.construct = construct  # DistributedDataParallel.__init__ itself
        self.args, self.kwargs = bound.args[2:], bound.kwargs  # without self and the module
        self.names = {}  # id: name
        self.seen = set()
        self.lacking = {}  # names, in the order in which they were missed
        self.whole = 0  # backwards that reached every parameter
        self.steps = 0
        self.depth = 0
        self.is_over = False
        self.handles = []
        for name, parameter in module.module.named_parameters():
            if parameter.requires_grad:
                self.names[id(parameter)] = name
                self.handles.append(parameter.register_hook(self._hook(id(parameter))))

    def _hook(self, key):
        def hook(gradient):
            self.seen.add(key)

        return hook

    def around_backward(self, original):
        def backward(*args, **kwargs):
            self.depth += 1
            try:
                return original(*args, **kwargs)
            finally:
                self.depth -= 1
                if not self.depth and self.seen:  # not of another model, nor within checkpointing
                    self._take()

        return backward

    def _take(self):
        seen, self.seen = self.seen, set()
        if len(seen) == len(self.names):
            self.whole += 1
        for key, name in self.names.items():
            if key not in seen:
                self.lacking[name] = True

    def reason(self):
        if self.lacking:
            names = list(self.lacking)
            more = ", …" if len(names) > _NAMED else ""
            return "%d of %d parameters had no gradient in some backward: %s" % (
                len(names), len(self.names), ", ".join(names[:_NAMED]) + more)
        return "" if self.whole >= _FEWEST else "too few backwards were seen"

    def let_go(self):
        handles, self.handles = self.handles, []
        for handle in handles:
            handle.remove()

    def renew(self, torch, module):
        """The same DDP without the search. Where that raises, nothing has changed."""
        inner = module.module
        buffers = [(buffer, buffer.detach().clone()) for buffer in inner.buffers()]
        new = type(module).__new__(type(module))
        self.construct(new, inner, *self.args, **self.kwargs)
        with torch.no_grad():  # those of the first rank were handed to all
            for buffer, value in buffers:
                buffer.copy_(value)
        # What every Module has (hooks, the mode) stays as the program set it.
        plain = set(vars(torch.nn.Module())) | {"require_backward_grad_sync"}
        vars(module).update({key: value for key, value in vars(new).items() if key not in plain})


def make(name, value, on):
    return FindUnused(name, value, on)
