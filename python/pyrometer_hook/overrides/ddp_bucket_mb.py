"""ddp.bucket_mb: megabytes of gradients that are reduced at a time."""
from .ddp_argument import DdpArgument


class BucketMb(DdpArgument):
    argument = "bucket_cap_mb"
    usual = 25

    def wish(self):
        return int(self.value)


def make(name, value, on):
    return BucketMb(name, value, on)
