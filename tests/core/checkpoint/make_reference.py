#!/usr/bin/env python3
"""Writes python_model.safetensors (safetensors.torch.save_model of a model with tied weights) and accelerate_model.safetensors (the
model.safetensors of a folder of Accelerate's save_state). Made with torch 2.11, safetensors 0.5+, accelerate 1.15; run it in this folder.
"""
import shutil
import tempfile

import torch
from accelerate import Accelerator
from safetensors.torch import save_model


class Tied(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = torch.nn.Embedding(3, 2)
        self.head = torch.nn.Linear(2, 3, bias=False)
        self.head.weight = self.embed.weight


tied = Tied()
with torch.no_grad():
    tied.embed.weight.copy_(torch.arange(6.0).reshape(3, 2) / 4)
save_model(tied, "python_model.safetensors")

accelerator = Accelerator(cpu=True)
net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2))
with torch.no_grad():
    net[0].weight.copy_(torch.tensor([[0.5, -1.5], [2.0, 0.25]]))
    net[0].bias.copy_(torch.tensor([1.0, -1.0]))
    net[1].running_mean.copy_(torch.tensor([0.125, -0.375]))
    net[1].num_batches_tracked.fill_(7)
net = accelerator.prepare(net)
folder = tempfile.mkdtemp()
accelerator.save_state(folder)
shutil.copy(f"{folder}/model.safetensors", "accelerate_model.safetensors")
shutil.rmtree(folder)
