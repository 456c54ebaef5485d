"""The workloads in PyTorch: plain, or with torch.compile; convolutions in channels_last."""
import torch
from torch import nn
from torch.nn import functional as F

from measure import arguments, measure

options = arguments(["plain", "compile"])
torch.set_num_threads(options.threads)
torch.manual_seed(1)
IMAGES = torch.channels_last


def conv_bn(inside, outside, size, stride=1, groups=1):
    return nn.Sequential(nn.Conv2d(inside, outside, size, stride, size // 2, groups=groups, bias=False), nn.BatchNorm2d(outside))


class BasicBlock(nn.Module):
    def __init__(self, inside, outside, stride):
        super().__init__()
        self.conv1, self.conv2 = conv_bn(inside, outside, 3, stride), conv_bn(outside, outside, 3)
        self.shortcut = conv_bn(inside, outside, 1, stride) if stride > 1 else nn.Identity()

    def forward(self, x):
        return F.relu(self.conv2(F.relu(self.conv1(x))) + self.shortcut(x))


class Bottleneck(nn.Module):
    def __init__(self, inside, filters, stride):
        super().__init__()
        self.conv1, self.conv2 = conv_bn(inside, filters, 1), conv_bn(filters, filters, 3, stride)
        self.conv3 = conv_bn(filters, 4 * filters, 1)
        self.shortcut = conv_bn(inside, 4 * filters, 1, stride) if inside != 4 * filters else nn.Identity()

    def forward(self, x):
        y = F.relu(self.conv1(x), inplace=True)
        y = F.relu(self.conv2(y), inplace=True)
        return F.relu(self.conv3(y) + self.shortcut(x), inplace=True)


class Lstm(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(10000, 200)
        self.lstm = nn.LSTM(200, 200, 2)
        self.softmax = nn.Linear(200, 10000)

    def forward(self, ids):
        return self.softmax(self.lstm(self.embedding(ids))[0]).flatten(0, 1)


class Block(nn.Module):
    """A pre-norm transformer block."""

    def __init__(self, width=256, heads=4, inner=1024):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, inner), nn.Linear(inner, width)

    def forward(self, x):
        batch, tokens, width = x.shape
        qkv = self.qkv(self.norm1(x)).view(batch, tokens, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        attended = F.scaled_dot_product_attention(qkv[0], qkv[1], qkv[2])
        x = x + self.out(attended.transpose(1, 2).reshape(batch, tokens, width))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class Embed(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.EmbeddingBag(100000, 64, mode="mean", sparse=True)
        self.dense = nn.Linear(64, 10)

    def forward(self, ids):
        return self.dense(self.table(ids))


def mlp():
    return nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10))


def lenet():
    return nn.Sequential(
        nn.Conv2d(1, 32, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(32, 64, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(7 * 7 * 64, 1024), nn.ReLU(), nn.Linear(1024, 10))


def vgg():
    layers, inside = [], 3
    for convolutions, filters in [(2, 64), (2, 128), (3, 256)]:
        for _ in range(convolutions):
            layers += [nn.Conv2d(inside, filters, 3, padding=1), nn.ReLU(inplace=True)]
            inside = filters
        layers.append(nn.MaxPool2d(2))
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(8 * 8 * 256, 512), nn.ReLU(), nn.Linear(512, 100))


def resnet20():
    layers, inside = [conv_bn(3, 16, 3), nn.ReLU()], 16
    for stage, filters in enumerate([16, 32, 64]):
        for i in range(3):
            layers.append(BasicBlock(inside, filters, 2 if stage > 0 and i == 0 else 1))
            inside = filters
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10))


def resnet50():
    layers, inside = [conv_bn(3, 64, 7, 2), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)], 64
    for stage, blocks in enumerate([3, 4, 6, 3]):
        for i in range(blocks):
            layers.append(Bottleneck(inside, 64 << stage, 2 if stage > 0 and i == 0 else 1))
            inside = 4 * (64 << stage)
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2048, 1000))


def mobilenet():
    layers, inside = [conv_bn(3, 32, 3, 2), nn.ReLU6(inplace=True)], 32
    for filters, stride in [(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2)] + [(512, 1)] * 5 + [(1024, 2), (1024, 1)]:
        layers += [conv_bn(inside, inside, 3, stride, inside), nn.ReLU6(inplace=True),
                   conv_bn(inside, filters, 1), nn.ReLU6(inplace=True)]
        inside = filters
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(1024, 1000))


def transformer():
    return nn.Sequential(Block(), Block(), nn.LayerNorm(256), nn.Linear(256, 100), nn.Flatten(0, 1))


# The model, what it is fed, the number of classes and of predictions.
MODELS = {
    "mlp": (mlp, lambda: torch.randn(128, 784), 10, 128),
    "lenet": (lenet, lambda: torch.randn(64, 1, 28, 28).to(memory_format=IMAGES), 10, 64),
    "resnet20": (resnet20, lambda: torch.randn(128, 3, 32, 32).to(memory_format=IMAGES), 10, 128),
    "resnet50": (resnet50, lambda: torch.randn(8, 3, 224, 224).to(memory_format=IMAGES), 1000, 8),
    "vgg": (vgg, lambda: torch.randn(32, 3, 64, 64).to(memory_format=IMAGES), 100, 32),
    "mobilenet": (mobilenet, lambda: torch.randn(8, 3, 224, 224).to(memory_format=IMAGES), 1000, 8),
    "lstm": (Lstm, lambda: torch.randint(10000, (20, 20)), 10000, 400),
    "transformer": (transformer, lambda: torch.randn(8, 128, 256), 100, 1024),
    "embed": (Embed, lambda: torch.randint(100000, (64, 20)), 10, 64),
}


def compiled(fn):
    return torch.compile(fn) if options.variant == "compile" else fn


def model_steps():
    make, inputs, classes, predictions = MODELS[options.workload]
    x, y = inputs(), torch.randint(classes, (predictions,))
    model = make()
    if x.dim() == 4:
        model = model.to(memory_format=IMAGES)
    count = sum(p.numel() for p in model.parameters())
    if options.training:
        if options.workload == "embed":
            optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        else:
            optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, fused=True)
        loss_of = compiled(lambda x, y: F.cross_entropy(model(x), y))

        def step():
            optimizer.zero_grad(set_to_none=True)
            loss = loss_of(x, y)
            loss.backward()
            optimizer.step()
            return loss.item()
        return step, count
    model.eval()
    forward = compiled(model)

    @torch.inference_mode()
    def infer():
        forward(x)
    return infer, count


def tiny_steps():
    x0, w = torch.randn(4), nn.Parameter(torch.randn(4))

    def chain(x):
        for _ in range(500):
            x = torch.tanh(x * w)
        return x
    if options.training:
        optimizer = torch.optim.SGD([w], lr=0.01, momentum=0.9, fused=True)
        loss_of = compiled(lambda x: chain(x).sum())

        def step():
            optimizer.zero_grad(set_to_none=True)
            loss = loss_of(x0)
            loss.backward()
            optimizer.step()
            return loss.item()
        return step, 4
    forward = compiled(chain)

    @torch.inference_mode()
    def infer():
        forward(x0)
    return infer, 4


def eager_steps():
    x0, w = torch.randn(4), nn.Parameter(torch.randn(4))
    optimizer = torch.optim.SGD([w], lr=0.01, momentum=0.9, fused=True)

    def step():
        optimizer.zero_grad(set_to_none=True)
        x = x0
        for _ in range(10000):
            x = x + w
        loss = x.sum()
        loss.backward()
        optimizer.step()
        return loss.item()

    @torch.inference_mode()
    def infer():
        x = x0
        for _ in range(10000):
            x = x + w
    return step if options.training else infer, 4


step, count = {"tiny": tiny_steps, "eager": eager_steps}.get(options.workload, model_steps)()
measure(options, "torch", step, count)
