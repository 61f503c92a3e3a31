"""The catalogue's data sets as PyTorch and numpy read and draw them, as digests: reference_data.json.

    python make_reference.py        # needs torch==2.11.0 numpy
"""
import gzip, hashlib, json, pathlib

import numpy as np
import torch

HERE = pathlib.Path(__file__).resolve().parent
DATA = HERE.parents[2] / "resources" / "datasets"


def digits():
    table = np.loadtxt(gzip.open(DATA / "digits.csv.gz"), delimiter=",", dtype=np.float32)
    return torch.tensor(table[:, :64] / 16), torch.tensor(table[:, 64]).long()


def breast_cancer():
    table = np.loadtxt(DATA / "breast_cancer.csv", delimiter=",", skiprows=1, dtype=np.float32)
    return torch.tensor(table[:, :30]), torch.tensor(table[:, 30]).long()


def random_classes(seed, samples, features):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(samples, features, generator=generator), torch.randint(0, 2, (samples,), generator=generator)


SETS = {"digits": digits(), "breast-cancer": breast_cancer(), "article-1": random_classes(1, 64, 8),
        "article-2": random_classes(17, 32, 8)}
digest = lambda tensor: hashlib.sha256(tensor.contiguous().numpy().tobytes()).hexdigest()
order = lambda seed: torch.randperm(1437, generator=torch.Generator().manual_seed(seed))
out = {"torch": torch.__version__, "numpy": np.__version__,
       "sets": {name: {"features": digest(x), "labels": digest(y), "shape": list(x.shape)} for name, (x, y) in SETS.items()},
       "randperm_1437": {str(seed): digest(order(seed)) for seed in (0, 3, 4294967295)}}
(HERE / "reference_data.json").write_text(json.dumps(out, indent=1) + "\n")
