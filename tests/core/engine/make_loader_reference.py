"""Writes loader_reference.txt: what Accelerate gives each process of a loader, for a grid of sizes. Usage: make_loader_reference.py FILE

One case a line: kind, its numbers, a colon, then the ranks separated by '/', their batches by ';', samples by a space. Kinds:
  map n batch ranks split even drop     BatchSamplerShard over BatchSampler(range(n))
  own sizes ranks even                  BatchSamplerShard over batches of those sizes, without a batch size
  stream n batch ranks split drop       IterableDatasetShard over range(n), put together to batches
  seedable n seed epochs                SeedableRandomSampler: '/' separates epochs
  plain n seed epochs                   DataLoader(shuffle=True) after manual_seed, and last one torch.rand as a hexadecimal float
  generator n seed epochs               the same with a generator of one's own
"""
import sys

import accelerate
import torch
from accelerate.data_loader import BatchSamplerShard, IterableDatasetShard, SeedableRandomSampler
from torch.utils.data import BatchSampler, DataLoader, SequentialSampler


def text(ranks):
    return "/".join(";".join(" ".join(str(i) for i in batch) for batch in batches) for batches in ranks)


class Varying:
    """Batches of given sizes; it has no batch_size."""

    def __init__(self, sizes):
        self.sizes = sizes

    def __len__(self):
        return len(self.sizes)

    def __iter__(self):
        start = 0
        for size in self.sizes:
            yield list(range(start, start + size))
            start += size


def chunks(samples, size):
    return [samples[i:i + size] for i in range(0, len(samples), size)]


def map_cases():
    for n in (0, 1, 3, 4, 7, 8, 11, 12, 13, 17):
        for batch in (1, 2, 3, 4):
            for ranks in (2, 3, 4):
                for split in (0, 1):
                    if split and batch % ranks:
                        continue
                    for even in (0, 1):
                        for drop in (0, 1):
                            sampler = lambda: BatchSampler(SequentialSampler(range(n)), batch, bool(drop))
                            shards = [BatchSamplerShard(sampler(), ranks, r, bool(split), bool(even)) for r in range(ranks)]
                            yield f"map {n} {batch} {ranks} {split} {even} {drop}:{text([list(s) for s in shards])}"


def own_cases():
    for sizes in ((3,), (2, 3), (1, 4, 2), (2, 2, 2, 2), (5, 1, 1, 2, 3)):
        for ranks in (2, 3):
            for even in (0, 1):
                shards = [BatchSamplerShard(Varying(sizes), ranks, r, False, bool(even)) for r in range(ranks)]
                yield f"own {','.join(map(str, sizes))} {ranks} {even}:{text([list(s) for s in shards])}"


def stream_cases():
    for n in (0, 1, 3, 4, 7, 8, 11, 12, 13, 17):
        for batch in (1, 2, 3, 4):
            for ranks in (2, 3):
                for split in (0, 1):
                    if split and batch % ranks:
                        continue
                    for drop in (0, 1):
                        each = batch // ranks if split else batch
                        shards = [IterableDatasetShard(range(n), batch, bool(drop), ranks, r, bool(split)) for r in range(ranks)]
                        yield f"stream {n} {batch} {ranks} {split} {drop}:{text([chunks(list(s), each) for s in shards])}"


def order_cases():
    for n, seed in ((1, 0), (11, 42), (50, 1234567890123)):
        sampler = SeedableRandomSampler(range(n), data_seed=seed)
        yield f"seedable {n} {seed} 4:{text([[list(sampler)] for _ in range(4)])}"
        torch.manual_seed(seed)
        loader = DataLoader(range(n), batch_size=4, shuffle=True)
        orders = [[[int(i) for batch in loader for i in batch]] for _ in range(3)]
        yield f"plain {n} {seed} 3:{text(orders)}/{torch.rand(1).item().hex()}"
        generator = torch.Generator().manual_seed(seed)
        loader = DataLoader(range(n), batch_size=4, shuffle=True, generator=generator)
        orders = [[[int(i) for batch in loader for i in batch]] for _ in range(3)]
        yield f"generator {n} {seed} 3:{text(orders)}"


with open(sys.argv[1], "w") as out:
    out.write(f"# accelerate {accelerate.__version__}, torch {torch.__version__}; written by make_loader_reference.py\n")
    for cases in (map_cases(), own_cases(), stream_cases(), order_cases()):
        out.writelines(line + "\n" for line in cases)
