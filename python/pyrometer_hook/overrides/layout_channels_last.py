"""layout.channels_last: 4-dimensional weights and images in channels_last layout."""
from . import models
from .forward_site import ForwardOverride
from .override import Refused


class ChannelsLast(ForwardOverride):
    def install(self, torch, finder):
        self.converted = models.Things()
        super().install(torch, finder)

    def look_at(self, module):
        torch = self.torch
        if models.is_parallel(module):
            raise Refused("its gradients were laid out when it was made parallel")
        # In a 1x1 convolution, or of one channel, both layouts are the same.
        weights = [parameter for parameter in module.parameters()
                   if parameter.dim() == 4 and parameter.shape[1] > 1]
        if not weights:
            raise Refused("it has no convolution of images")
        if all(weight.is_contiguous(memory_format=torch.channels_last) for weight in weights):
            raise Refused("it is in channels_last already")
        self.cover(module)
        self.converted.add(module)
        if self.on:
            self.switched()

    def switched(self):
        for module, _ in self.converted:
            self.convert(module, self.torch.channels_last if self.on
                         else self.torch.contiguous_format)
        if self.on and any(True for _ in self.converted):
            self.applied("weights and images in channels_last")

    def convert(self, module, layout):
        module.to(memory_format=layout)
        owners = {id(parameter): parameter for parameter in module.parameters()}
        with self.torch.no_grad():
            for parameter in owners.values():
                if parameter.dim() == 4 and parameter.grad is not None:
                    parameter.grad = parameter.grad.contiguous(memory_format=layout)
            for optimizer in models.optimizers():
                for parameter, state in optimizer.state.items():
                    if id(parameter) not in owners:
                        continue
                    for key, value in state.items():
                        if isinstance(value, self.torch.Tensor) and value.dim() == 4:
                            state[key] = value.contiguous(memory_format=layout)

    def around(self, module, call, args, kwargs):
        return call(tuple(self.image(item) for item in args),
                    {key: self.image(item) for key, item in kwargs.items()})

    def image(self, item):
        if isinstance(item, self.torch.Tensor) and item.dim() == 4 and item.is_floating_point():
            return item.contiguous(memory_format=self.torch.channels_last)
        return item

    def undo(self):
        super().undo()
        converted, self.converted = getattr(self, "converted", ()), models.Things()
        for module, _ in converted:
            self.convert(module, self.torch.contiguous_format)


def make(name, value, on):
    return ChannelsLast(name, value, on)
