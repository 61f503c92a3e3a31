"""Initial weights of the catalogue's models as PyTorch draws them, as digests: reference_models.json.

    python make_reference.py        # needs torch==2.11.0

Each model is built in the order of its layers after torch.manual_seed(seed); a digest is the SHA-256 of the parameter's
little-endian fp32 bytes. One forward pass on ones gives a value to compare within rounding.
"""
import hashlib, json, pathlib

import torch
from torch import nn


class Gated(nn.Module):
    def __init__(self, features, classes):
        super().__init__()
        self.inlet = nn.Linear(features, 64)
        self.value = nn.Linear(64, 256)
        self.opening = nn.Linear(64, 256)
        self.down = nn.Linear(256, 64, bias=False)
        self.norm = nn.LayerNorm(64)
        self.head = nn.Linear(64, classes)

    def forward(self, x):
        h = 300 * self.inlet(x)
        g = self.value(h) * self.opening(h).relu()
        return self.head(self.norm(self.down(g).float() + h.float()))


class Square(nn.Module):
    def forward(self, x):
        return x * x


MODELS = {
    "mlp": lambda f, c: nn.Sequential(nn.Linear(f, 128), nn.ReLU(), nn.Linear(128, c)),
    "cnn": lambda f, c: nn.Sequential(nn.Unflatten(1, (1, 8, 8)), nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
                                      nn.Conv2d(8, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
                                      nn.Flatten(), nn.Linear(64, c)),
    "linear": lambda f, c: nn.Sequential(nn.Linear(f, c)),
    "squares": lambda f, c: nn.Sequential(nn.Linear(f, 128), Square(), nn.Linear(128, c)),
    "gated": Gated}

out = {"torch": torch.__version__, "seed": 3, "features": 64, "classes": 10, "models": {}}
for name, make in MODELS.items():
    torch.manual_seed(3)
    model = make(64, 10)
    digests = [hashlib.sha256(p.detach().numpy().tobytes()).hexdigest() for p in model.parameters()]
    sums = model(torch.ones(4, 64) * torch.arange(1, 5).unsqueeze(1)).detach().double().sum(1).tolist()
    out["models"][name] = {"parameters": digests, "output_sums": sums}
pathlib.Path(__file__).with_name("reference_models.json").write_text(json.dumps(out, indent=1) + "\n")
