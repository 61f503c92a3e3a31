"""Initial weights and ten training steps of the layer lists in resources/models as PyTorch has them: reference_layers.json.

    python make_layer_reference.py        # needs torch==2.11.0

Each model is the same modules, made in the order of the list after torch.manual_seed(3). Weights are SHA-256 of each parameter's fp32
bytes; losses are ten steps of SGD (0.05) on samples of a formula, in fp32 and under bf16 autocast, one thread, plain AVX2 kernels.
"""
import hashlib, json, math, os, pathlib

os.environ.update(ATEN_CPU_CAPABILITY="avx2", ONEDNN_MAX_CPU_ISA="AVX2", MKL_CBWR="AVX2")
import torch
from torch import nn
from torch.nn import functional as F


class Times(nn.Module):
    def __init__(self, factor): super().__init__(); self.factor = factor
    def forward(self, x): return x * self.factor


class Letters(nn.Embedding):
    def forward(self, x): return super().forward(x.long())


class Places(nn.Embedding):
    def forward(self, x): return x + self.weight


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.qkv, self.out, self.heads = nn.Linear(width, 3 * width), nn.Linear(width, width), heads

    def forward(self, x):
        n, t, w = x.shape
        q, k, v = (part.view(n, t, self.heads, w // self.heads).transpose(1, 2) for part in self.qkv(x).split(w, 2))
        scores = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(w // self.heads))
        scores = scores.masked_fill(torch.ones(t, t, dtype=torch.bool).triu(1), -math.inf)
        return self.out((torch.softmax(scores, -1) @ v).transpose(1, 2).reshape(n, t, w))


class Gate(nn.Module):
    def __init__(self, width, out, act, bias=True):
        super().__init__()
        self.value, self.opening, self.act = nn.Linear(width, out, bias=bias), nn.Linear(width, out, bias=bias), act

    def forward(self, x): return self.value(x) * self.act(self.opening(x))


class Residual(nn.Sequential):
    in_fp32 = False
    def forward(self, x):
        y = x
        for name, module in self.named_children():
            if name != "shortcut": y = module(y)
        if "shortcut" in self._modules: x = self.shortcut(x)
        return x.float() + y.float() if self.in_fp32 else x + y


class Fp32Residual(Residual):
    in_fp32 = True


class Pool(nn.Module):
    def __init__(self, dim): super().__init__(); self.dim = dim
    def forward(self, x): return x.flatten(2).mean(2) if self.dim == 2 else x.mean(1)


def with_shortcut(body, shortcut):
    body.add_module("shortcut", shortcut)
    return body


def conv(i, o, k=3, s=1): return nn.Conv2d(i, o, k, stride=s, padding=k // 2, bias=False)


def basic(i, o, s):
    body = [conv(i, o, 3, s), nn.BatchNorm2d(o), nn.ReLU(), conv(o, o), nn.BatchNorm2d(o)]
    return Residual(*body) if s == 1 else with_shortcut(Residual(*body), nn.Sequential(conv(i, o, 1, s), nn.BatchNorm2d(o)))


def feed_forward(): return Residual(nn.RMSNorm(64), Times(90), Gate(64, 256, F.gelu, False), nn.Linear(256, 64, bias=False))


def attention_pair(): return [Residual(nn.LayerNorm(32), Attention(32, 4)), Residual(nn.LayerNorm(32), nn.Linear(32, 128), nn.GELU(), nn.Linear(128, 32))]


IMAGE = lambda: nn.Unflatten(1, (1, 8, 8))
MODELS = {
    "deep-mlp": lambda: nn.Sequential(nn.Linear(64, 128), nn.LayerNorm(128), nn.ReLU(), nn.Linear(128, 128), nn.LayerNorm(128), nn.ReLU(),
                                      nn.Linear(128, 64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, 10)),
    "cnn-small": lambda: nn.Sequential(IMAGE(), nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2),
                                       nn.Conv2d(8, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(64, 10)),
    "resnet-small": lambda: nn.Sequential(IMAGE(), conv(1, 16), nn.BatchNorm2d(16), nn.ReLU(), basic(16, 16, 1), nn.ReLU(), basic(16, 32, 2), nn.ReLU(),
                                          basic(32, 64, 2), nn.ReLU(), Pool(2), nn.Linear(64, 10)),
    "pixel-transformer": lambda: nn.Sequential(Times(16), Letters(17, 32), Places(64, 32), *attention_pair(), *attention_pair(), nn.LayerNorm(32), Pool(1), nn.Linear(32, 10)),
    "gated-layers": lambda: nn.Sequential(nn.Linear(64, 64), Times(300), Fp32Residual(Gate(64, 256, F.relu), nn.Linear(256, 64, bias=False)), nn.LayerNorm(64), nn.Linear(64, 10)),
    "t5-feed-forward": lambda: nn.Sequential(nn.Linear(64, 64, bias=False), feed_forward(), feed_forward(), nn.RMSNorm(64), nn.Linear(64, 10))}


def ten_losses(make, mode):
    torch.manual_seed(3)
    model = make()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    losses = []
    for step in range(10):
        x = ((torch.arange(32 * 64) * 37 + 11 * step) % 17).float().div(16).view(32, 64)
        labels = (torch.arange(32) * 7 + step) % 10
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=mode == "bf16"):
            loss = F.cross_entropy(model(x).float(), labels)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


torch.set_num_threads(1)
out = {"torch": torch.__version__, "seed": 3, "models": {}}
for name, make in MODELS.items():
    torch.manual_seed(3)
    digests = [hashlib.sha256(p.detach().numpy().tobytes()).hexdigest() for p in make().parameters()]
    out["models"][name] = {"parameters": digests, "losses": {mode: ten_losses(make, mode) for mode in ("no", "bf16")}}
pathlib.Path(__file__).with_name("reference_layers.json").write_text(json.dumps(out, indent=1) + "\n")
