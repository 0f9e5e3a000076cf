"""batch_size: samples per batch of the loaders that shuffle or are split among ranks."""
import weakref

from ..patching import leave_no_trace
from .override import Override, Refused


class BatchSize(Override):
    def install(self, torch, finder):
        self.data = torch.utils.data
        self.made = weakref.WeakSet()  # our batch samplers
        self.sizes = weakref.WeakKeyDictionary()  # by dataset
        self.done = {}

        def make(original):
            def __init__(loader, *args, **kwargs):
                try:
                    original(loader, *args, **kwargs)
                except BaseException as error:
                    leave_no_trace(error)
                    raise
                if self.on:
                    self.look_at(loader)

            return __init__

        self.patches.wrap(torch.utils.data.dataloader.DataLoader, "__init__", make)
        self.waiting("for a loader that shuffles or is split among ranks")

    def look_at(self, loader):
        try:
            self.change(loader)
        except Refused as refused:
            if not self.done:
                self.say("cannot: because " + str(refused))
        except Exception:
            self.failed()

    def change(self, loader):
        data, own = self.data, loader.__dict__
        sampler, batches = own.get("sampler"), own.get("batch_sampler")
        if batches in self.made or isinstance(sampler, data.SequentialSampler):
            return  # a validation's order matters to no one, but neither does its speed here
        if own.get("batch_size") is None or type(batches) is not data.BatchSampler:
            raise Refused("the loader has a batch sampler of its own")
        before = own["batch_size"]
        size = self.size(before)
        dataset = loader.dataset
        if before in self.sizes_of(dataset):
            return  # a library has made the loader anew from what it read
        if size == before:
            raise Refused("batches have %d samples already" % size)
        try:
            count = len(sampler)
        except Exception:
            count = None  # a stream
        if count is not None and count < size:
            raise Refused("there are only %d samples" % count)
        ours = data.BatchSampler(sampler, size, batches.drop_last)
        own.update(batch_size=size, batch_sampler=ours)
        self.made.add(ours)
        self.sizes_of(dataset).add(size)
        text = "batch_size %d -> %d" % (before, size)
        self.done[text] = self.done.get(text, 0) + 1
        self.applied("; ".join("%s (%d of the loaders)" % item for item in self.done.items()))

    def sizes_of(self, dataset):
        """Samples per batch that we chose for loaders of this dataset."""
        try:
            return self.sizes.setdefault(dataset, set())
        except TypeError:
            return set()  # it cannot be told from others

    def size(self, before):
        if self.value.startswith("x"):
            return before * int(self.value[1:])
        return int(self.value)


def make(name, value, on):
    return BatchSize(name, value, on)
