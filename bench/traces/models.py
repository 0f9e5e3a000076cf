"""Small models for the cases. Sizes are given by the caller."""
from torch import nn
from torch.nn import functional as F


def attention(q, k, v):
    if hasattr(F, "scaled_dot_product_attention"):
        return F.scaled_dot_product_attention(q, k, v)
    weights = (q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5).softmax(-1)
    return weights @ v


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        batch, length, width = x.shape
        qkv = self.qkv(self.norm1(x)).view(batch, length, 3, self.heads, width // self.heads)
        q, k, v = qkv.permute(2, 0, 3, 1, 4).unbind(0)
        x = x + self.out(attention(q, k, v).transpose(1, 2).reshape(batch, length, width))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class Transformer(nn.Module):
    """Token classifier: indices in, class scores per position out."""

    def __init__(self, layers, width, heads, vocabulary=8192, classes=1024):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.blocks = nn.Sequential(*(Block(width, heads) for _ in range(layers)))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, classes)

    def forward(self, tokens):
        return self.head(self.norm(self.blocks(self.embed(tokens))))


class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv1 = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.conv2 = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.norm1, self.norm2 = nn.BatchNorm2d(width), nn.BatchNorm2d(width)

    def forward(self, x):
        y = F.relu(self.norm1(self.conv1(x)))
        return F.relu(x + self.norm2(self.conv2(y)))


class ConvNet(nn.Module):
    """A stem with stride 4, residual blocks of one width, a linear head."""

    def __init__(self, width, blocks, classes=1000):
        super().__init__()
        self.stem = nn.Conv2d(3, width, 7, stride=4, padding=3)
        self.blocks = nn.Sequential(*(Residual(width) for _ in range(blocks)))
        self.head = nn.Linear(width, classes)

    def forward(self, images):
        return self.head(self.blocks(F.relu(self.stem(images))).mean((2, 3)))


def mlp(width, layers, inputs=None, outputs=None):
    """`layers` linear layers with ReLU between them."""
    sizes = [inputs or width] + [width] * (layers - 1) + [outputs or width]
    parts = []
    for size_in, size_out in zip(sizes, sizes[1:]):
        parts += [nn.Linear(size_in, size_out), nn.ReLU()]
    return nn.Sequential(*parts[:-1])


def deep_narrow(width, blocks):
    """Many small parameters: four per block."""
    return nn.Sequential(*(nn.Sequential(nn.LayerNorm(width), nn.Linear(width, width))
                           for _ in range(blocks)))


def token_loss(scores, targets):
    return F.cross_entropy(scores.flatten(0, -2), targets.flatten())


def class_loss(scores, targets):
    return F.cross_entropy(scores, targets)


def square_loss(outputs, targets):
    return F.mse_loss(outputs.float(), targets)


def transformer_batch(env, batch, length, vocabulary=8192, classes=1024):
    return env.labels(vocabulary, batch, length), env.labels(classes, batch, length)


def image_batch(env, batch, side, classes=1000):
    return env.randn(batch, 3, side, side), env.labels(classes, batch)
