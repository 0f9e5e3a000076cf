"""Trainings on the CPU that the tests of overrides share."""
from support import PRELUDE, HookCase

TRAINING = PRELUDE + """
class Data(Dataset):
    def __len__(self):
        return 40
    def __getitem__(self, index):
        return torch.full((4,), float(index)), torch.ones(1)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), 0.001)
def train(loader, every=1):
    for i, (x, y) in enumerate(loader):
        loss = (model(x) - y).pow(2).mean()
        loss.backward()
        if not (i + 1) % every:
            optimizer.step()
            optimizer.zero_grad()
        print(repr(loss.item()))
"""

MODEL = PRELUDE + """
model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 36, 1))
optimizer = torch.optim.Adam(model.parameters())
data = TensorDataset(torch.randn(64, 3, 8, 8), torch.randn(64, 1))
seen = []
def train(steps=16, model=model, make=lambda x: model(x)):
    for x, y in DataLoader(data, batch_size=64 // steps):
        optimizer.zero_grad()
        out = make(x)
        loss = (out - y).pow(2).mean()
        loss.backward()
        optimizer.step()
        seen.append(out.dtype)
        print(loss.item())
"""


class OverrideCase(HookCase):
    def run_with(self, program, with_="", env=None, **how):
        variables = dict(env or {})
        if with_:
            variables["PYROMETER_WITH"] = with_
        return self.run_program(program, env=variables, **how)

    def status(self, result, name):
        return result.records.infos.get("override." + name, "")

    def assert_applied(self, result, name, text=""):
        self.assertRegex(self.status(result, name), "^applied: .*" + text)

    def assert_cannot(self, result, name, text=""):
        self.assertRegex(self.status(result, name), "^cannot: because .*" + text)
