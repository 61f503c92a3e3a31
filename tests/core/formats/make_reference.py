#!/usr/bin/env python3
"""Writes reference.safetensors with the reference implementation: one tensor of every dtype that core/formats reads.

Made with safetensors 0.5+ and torch 2.11. Run it in this folder; the tests compare the file byte for byte.
"""
import torch
from safetensors.torch import save_file

save_file(
    {
        "a": torch.arange(6, dtype=torch.float32).reshape(2, 3),
        "b.half": torch.tensor([1.0, 65504.0, float("inf")], dtype=torch.float16),
        "brain": torch.tensor([[1.5], [-3.0]], dtype=torch.bfloat16),
        "byte": torch.tensor([255, 0], dtype=torch.uint8),
        "ids": torch.tensor([2**40, -1], dtype=torch.int64),
        "mask": torch.tensor([True, False, True]),
        "none": torch.zeros(0, 4),
        "scalar": torch.tensor(-2.5, dtype=torch.float64),
        "small": torch.tensor([7], dtype=torch.int32),
    },
    "reference.safetensors",
    metadata={"made": "by hand"},
)
