"""Somebody else's program on the same GPU: large matrix products until it is ended."""
import torch

a = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)
product = a @ a
torch.cuda.synchronize()
print("working", flush=True)
while True:
    for _ in range(20):
        product = a @ a
    torch.cuda.synchronize()
