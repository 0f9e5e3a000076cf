"""ddp.no_sync: gradients reduced once per optimizer step, not in each backward."""
import weakref

from ..patching import Patches
from ..runtime import rt
from ..steps import steps
from . import models
from .forward_site import ForwardOverride
from .override import Refused

_LEARN = 3  # steps of the same number of batches, after which that number is known


class NoSync(ForwardOverride):
    what = "DistributedDataParallel"
    is_proven = True
    counts = True
    _module = None  # weakref

    def install(self, torch, finder):
        if not torch.distributed.is_available():
            raise Refused("this torch has no torch.distributed")
        self.batches = 0  # per step, 0: not known yet
        self.counts = []  # of the steps seen
        self.step = -1
        self.forwards = self.backwards = 0  # in this step
        self.unsynced = False  # a backward was not followed by a reduction
        self.backward_patches = Patches()
        self.begin = None  # the hook's own function
        super().install(torch, finder)

    def things(self):
        return [module for module in models.outermost()
                if type(module).__name__ == "DistributedDataParallel"]

    def look_at(self, module):
        if self.module is not None:
            raise Refused("there are several of them")
        if getattr(module, "static_graph", False):
            raise Refused("static_graph does not allow for it")
        self.cover(module)
        state = rt.optimizer_state
        if state is None:
            raise Refused("optimizer steps are not seen")
        self.backward_patches.wrap(self.torch.autograd, "backward", self.wrap_backward)
        self._module = weakref.ref(module)
        self.begin = state.begin
        state.begin = self.before_step
        self.waiting("to learn how many batches a step has")

    @property
    def module(self):
        return self._module() if self._module is not None else None

    # -- counting --------------------------------------------------------------------------------

    def new_step(self):
        if self.step != steps.index:
            if self.step >= 0 and not self.batches:
                self.learn()
            self.step = steps.index
            self.forwards = self.backwards = 0

    def learn(self):
        """After a step: how many batches it had."""
        count = self.forwards if self.forwards == self.backwards else -1
        self.counts.append(count)
        last = self.counts[-_LEARN:]
        if len(last) < _LEARN:
            return
        if len(set(last)) > 1 or count < 0:
            if len(self.counts) > 10 * _LEARN:
                raise Refused("steps have ever other numbers of batches")
            return
        if count < 2:
            raise Refused("each step has one batch: nothing is accumulated")
        self.batches = count
        self.applied("one reduction for %d batches" % count)

    # -- what is done ----------------------------------------------------------------------------

    def around(self, module, call, args, kwargs):
        if self.torch.is_grad_enabled() and module.training and not self.is_off:
            self.guard(self.before_forward, module)
        return call(args, kwargs)

    def before_forward(self, module):
        self.new_step()
        self.forwards += 1
        if not module.require_backward_grad_sync and not self.unsynced:
            raise Refused("the program uses no_sync() itself")
        if self.batches and self.on:
            module.require_backward_grad_sync = self.forwards >= self.batches

    def wrap_backward(self, original):
        def backward(*args, **kwargs):
            result = original(*args, **kwargs)
            self.guard(self.after_backward)
            return result

        return backward

    def after_backward(self):
        self.backwards += 1
        module = self.module
        self.unsynced = bool(self.batches and module is not None
                             and not module.require_backward_grad_sync)

    def before_step(self, optimizer):
        # Also once it is off: gradients may wait that were not reduced.
        if self.unsynced:
            try:
                self.reduce()
            except Exception:
                self.failed()
        self.begin(optimizer)

    def reduce(self):
        """The step ended early: what its gradients still lack. All ranks come here alike."""
        distributed = self.torch.distributed
        self.unsynced = False
        module = self.module
        if module is None:
            return
        module.require_backward_grad_sync = True
        group = module.process_group
        size = distributed.get_world_size(group)
        with self.torch.no_grad():
            for parameter in module.parameters():
                if parameter.requires_grad and parameter.grad is not None:
                    distributed.all_reduce(parameter.grad, group=group)
                    parameter.grad.div_(size)

    def switched(self):
        if self.module is not None:
            self.module.require_backward_grad_sync = True

    def undo(self):
        super().undo()
        if getattr(self, "module", None) is not None:
            self.backward_patches.undo()
            if self.batches:
                self.module.require_backward_grad_sync = True


def make(name, value, on):
    return NoSync(name, value, on)
