"""Traces of Hugging Face Accelerate for tests/golden, beyond the five reference tasks.

Each task stresses one thing that a re-implementation gets wrong easily. Written with accelerate 1.15.0 and torch 2.11.0 on a
CPU with AVX2, one thread:

    ATEN_CPU_CAPABILITY=avx2 ONEDNN_MAX_CPU_ISA=AVX2 MKL_CBWR=AVX2 python make_golden.py OUT_DIR [TASK ...]

The files have the form of the reference traces: initial.safetensors, trace-MODE.json (floats as float.hex texts),
final-MODE.safetensors and, for made-up data, data.safetensors. Accelerate itself trains fp16 on a CPU in fp32, so its own fp16
path is switched on by hand (native AMP and a CPU GradScaler).
"""
import argparse
import gzip
import json
import math
import os
import pathlib

for name, value in (("ATEN_CPU_CAPABILITY", "avx2"), ("ONEDNN_MAX_CPU_ISA", "AVX2"), ("MKL_CBWR", "AVX2")):
    os.environ.setdefault(name, value)

import numpy
import torch
from accelerate import Accelerator
from accelerate import __version__ as accelerate_version
from accelerate.state import AcceleratorState, GradientState, PartialState
from safetensors.torch import save_file

RESOURCES = pathlib.Path(__file__).resolve().parents[2] / "resources" / "datasets"


class Squared(torch.nn.Module):
    def forward(self, values):
        return values * values


def layer(kind, *arguments):
    nn = torch.nn
    if kind == "conv2d":
        return nn.Conv2d(arguments[0], arguments[1], arguments[2], padding=arguments[3])
    if kind == "unflatten":
        return nn.Unflatten(1, arguments)
    plain = {"linear": nn.Linear, "relu": nn.ReLU, "tanh": nn.Tanh, "gelu": nn.GELU, "square": Squared, "max_pool2d": nn.MaxPool2d,
             "batch_norm2d": nn.BatchNorm2d, "layer_norm": nn.LayerNorm, "flatten": nn.Flatten}
    return plain[kind](*arguments)


def load_data(name):
    if name == "digits":
        rows = numpy.loadtxt(gzip.open(RESOURCES / "digits.csv.gz"), delimiter=",", dtype=numpy.float32)
        return torch.from_numpy(rows[:, :64] / 16).contiguous(), torch.from_numpy(rows[:, 64]).long()
    if name == "breast_cancer":
        rows = numpy.loadtxt(RESOURCES / "breast_cancer.csv", delimiter=",", skiprows=1, dtype=numpy.float32)
        return torch.from_numpy(rows[:, :30]).contiguous(), torch.from_numpy(rows[:, 30]).long()
    samples, width, classes, factor = (float(part) for part in name.split("-")[1:])  # made-SAMPLES-WIDTH-CLASSES-FACTOR
    draw = torch.Generator().manual_seed(2024)
    return (torch.randn(int(samples), int(width), generator=draw) * factor,
            torch.randint(0, int(classes), (int(samples),), generator=draw))


TANH = [["linear", 12, 24], ["tanh"], ["layer_norm", 24], ["linear", 24, 4]]
GELU = [["linear", 12, 32], ["gelu"], ["linear", 32, 16], ["gelu", "tanh"], ["linear", 16, 4]]
SMALL_CNN = [["unflatten", 1, 8, 8], ["conv2d", 1, 6, 3, 0], ["batch_norm2d", 6, 1e-4, 0.3], ["relu"],
             ["max_pool2d", 3, 2, 1, 1, False, True], ["conv2d", 6, 8, [3, 1], [1, 0]], ["batch_norm2d", 8, 1e-5, None], ["tanh"],
             ["batch_norm2d", 8, 1e-5, 0.1, False], ["batch_norm2d", 8, 1e-5, 0.1, True, False], ["flatten", 1],
             ["layer_norm", [128], 1e-4, True, False], ["linear", 128, 10]]

TASKS = {
    # Nesterov and weight decay, a cosine that goes past its end and comes back.
    "sgd_nesterov_cosine": dict(data="made-70-12-4-1", layers=TANH, batch_size=8, epochs=4, seed=11,
                                optimizer=["SGD", dict(lr=0.05, momentum=0.9, nesterov=True, weight_decay=0.01)],
                                scheduler=["CosineAnnealingLR", dict(T_max=13, eta_min=0.001)],
                                scaler=dict(init_scale=2.0**30, growth_interval=3)),
    # Coupled weight decay, amsgrad, own betas and eps, an OneCycle that moves beta1 and ends before the data does.
    "adam_amsgrad_onecycle": dict(data="made-70-12-4-1", layers=GELU, batch_size=10, epochs=5, seed=12,
                                  optimizer=["Adam", dict(lr=0.003, amsgrad=True, weight_decay=0.02, betas=[0.8, 0.99], eps=1e-6)],
                                  scheduler=["OneCycleLR", dict(max_lr=0.02, total_steps=30, three_phase=True, pct_start=0.4)],
                                  scaler=dict(init_scale=65536.0, growth_interval=4)),
    # A short last window (70 / 6 = 12 batches, windows of 5), clipping that bites, scale that grows at every step.
    "accumulation_short_window": dict(data="made-70-12-4-1", layers=TANH, batch_size=6, epochs=6, seed=13, accumulation=5,
                                      clip_norm=0.3, optimizer=["AdamW", dict(lr=0.01, maximize=False, weight_decay=0.1)],
                                      scheduler=["LinearLR", dict(start_factor=0.1, end_factor=0.5, total_iters=7)],
                                      scaler=dict(init_scale=1024.0, growth_interval=1, growth_factor=4.0, backoff_factor=0.25)),
    # Clipping while the scale overflows: norms that are inf and nan, held schedule.
    "clip_with_overflow": dict(data="digits", layers=[["linear", 64, 32], ["square"], ["linear", 32, 10]], batch_size=96, epochs=2,
                               seed=14, clip_norm=0.5, accumulation=2, optimizer=["SGD", dict(lr=0.1, momentum=0.8, dampening=0.1)],
                               scheduler=["ExponentialLR", dict(gamma=0.9)], scaler=dict(init_scale=2.0**34, growth_interval=2)),
    # Convolutions with other paddings, pools and BatchNorms with every optional argument.
    "cnn_options": dict(data="digits", layers=SMALL_CNN, batch_size=64, epochs=1, seed=15,
                        optimizer=["AdamW", dict(lr=0.002, amsgrad=True)], scheduler=["MultiStepLR", dict(milestones=[5, 9, 9, 20], gamma=0.3)],
                        scaler=dict(init_scale=2.0**28, growth_interval=5)),
    # Everything becomes non-finite, in no as well: what Accelerate does then is repeated too.
    "not_finite": dict(data="made-40-12-2-1e18", layers=[["linear", 12, 6], ["square"], ["linear", 6, 2]], batch_size=8, epochs=6,
                       seed=16, optimizer=["SGD", dict(lr=1.0, maximize=True)], scheduler=["PolynomialLR", dict(total_iters=20, power=2.0)],
                       scaler=dict(growth_interval=2)),
    # The other schedulers.
    "warm_restarts": dict(data="made-70-12-4-1", layers=GELU, batch_size=9, epochs=4, seed=17,
                          optimizer=["Adam", dict(lr=0.01, maximize=True, weight_decay=0.05)],
                          scheduler=["CosineAnnealingWarmRestarts", dict(T_0=3, T_mult=2, eta_min=0.0005)], scaler=dict(init_scale=2.0**33)),
    "constant_factor": dict(data="made-70-12-4-1", layers=TANH, batch_size=16, epochs=3, seed=18, optimizer=["AdamW", dict(lr=0.01)],
                            scheduler=["ConstantLR", dict(factor=0.25, total_iters=6)]),
    "cyclic": dict(data="made-70-12-4-1", layers=TANH, batch_size=7, epochs=4, seed=19, optimizer=["SGD", dict(lr=0.01, momentum=0.9)],
                   scheduler=["CyclicLR", dict(base_lr=0.001, max_lr=0.1, step_size_up=4, step_size_down=7, mode="exp_range", gamma=0.97)],
                   scaler=dict(init_scale=2.0**31, growth_interval=3)),
    # A sequence of three, with skipped steps in the warm-up; a warm-up by transformers' formula (LambdaLR).
    "sequence": dict(data="made-70-12-4-1", layers=TANH, batch_size=8, epochs=3, seed=28, optimizer=["AdamW", dict(lr=0.01)],
                     scheduler=["SequentialLR", dict(schedulers=[["LinearLR", dict(start_factor=0.1, total_iters=4)],
                                                                 ["CosineAnnealingLR", dict(T_max=9, eta_min=0.001)],
                                                                 ["ExponentialLR", dict(gamma=0.8)]], milestones=[4, 13])],
                     scaler=dict(init_scale=2.0**32, growth_interval=3)),
    "warmup": dict(data="made-70-12-4-1", layers=TANH, batch_size=8, epochs=3, seed=29, optimizer=["SGD", dict(lr=0.1, momentum=0.9)],
                   scheduler=["get_cosine_schedule_with_warmup", dict(num_warmup_steps=6, num_training_steps=24)],
                   scaler=dict(init_scale=2.0**32, growth_interval=3)),
    # A scale that is no power of two: a fused kernel divides by it, the scaler multiplies by its reciprocal.
    "fused_uneven_scale": dict(data="made-70-12-4-1", layers=TANH, batch_size=2, epochs=1, seed=292, accumulation=4,
                               optimizer=["AdamW", dict(lr=0.001, fused=True)],
                               scaler=dict(init_scale=1000.0, growth_factor=1.5, backoff_factor=0.3, growth_interval=2)),
    # The other optimizers.
    "rmsprop": dict(data="made-40-12-4-1", layers=TANH, batch_size=8, epochs=3, seed=22, scaler=dict(init_scale=2.0**19),
                    optimizer=["RMSprop", dict(lr=0.01, momentum=0.9, centered=True, weight_decay=0.01, alpha=0.9)]),
    "adagrad": dict(data="made-40-12-4-1", layers=TANH, batch_size=8, epochs=3, seed=23, scaler=dict(init_scale=2.0**19),
                    optimizer=["Adagrad", dict(lr=0.05, lr_decay=0.1, initial_accumulator_value=0.1, maximize=True)]),
    "adadelta": dict(data="made-40-12-4-1", layers=TANH, batch_size=8, epochs=3, seed=24, scaler=dict(init_scale=2.0**19),
                     optimizer=["Adadelta", dict(lr=0.5, weight_decay=0.01)]),
    "adamax": dict(data="made-40-12-4-1", layers=TANH, batch_size=8, epochs=3, seed=25, scaler=dict(init_scale=2.0**19),
                   optimizer=["Adamax", dict(lr=0.01, betas=[0.8, 0.95], weight_decay=0.01)]),
    "nadam": dict(data="made-40-12-4-1", layers=TANH, batch_size=8, epochs=3, seed=26, scaler=dict(init_scale=2.0**19),
                  optimizer=["NAdam", dict(lr=0.01, weight_decay=0.01, decoupled_weight_decay=True)]),
    "radam": dict(data="made-40-12-4-1", layers=TANH, batch_size=8, epochs=4, seed=27, scaler=dict(init_scale=2.0**19),
                  optimizer=["RAdam", dict(lr=0.01, weight_decay=0.01)],
                  scheduler=["OneCycleLR", dict(max_lr=0.05, total_steps=20)]),
    # A scaler that is there and switched off; a kernel that skips inside, so that nobody is told (D4).
    "scaler_off": dict(data="made-40-12-4-1", layers=TANH, batch_size=8, epochs=2, seed=20, optimizer=["SGD", dict(lr=0.1)],
                       scaler=dict(enabled=False)),
    "fused_skip": dict(data="made-70-12-4-1", layers=TANH, batch_size=8, epochs=3, seed=21, optimizer=["AdamW", dict(lr=0.01, fused=True)],
                       scheduler=["StepLR", dict(step_size=4, gamma=0.5)], scaler=dict(init_scale=2.0**32, growth_interval=3)),
}


def text_of(value):
    value = float(value)
    return value.hex() if math.isfinite(value) else str(value)


class GivenOrder(torch.utils.data.Sampler):
    def __init__(self, orders):
        self.orders, self.passes = orders, 0

    def __iter__(self):
        self.passes += 1
        return iter(self.orders[self.passes - 1])

    def __len__(self):
        return len(self.orders[0])


def cosine_with_warmup(optimizer, num_warmup_steps, num_training_steps, num_cycles=0.5):
    def factor(step):
        if step < num_warmup_steps:
            return step / max(1, num_warmup_steps)
        progress = (step - num_warmup_steps) / max(1, num_training_steps - num_warmup_steps)
        return max(0.0, 0.5 * (1.0 + math.cos(math.pi * float(num_cycles) * 2.0 * progress)))
    return torch.optim.lr_scheduler.LambdaLR(optimizer, factor)


def make_scheduler(optimizer, kind, settings):
    if kind == "get_cosine_schedule_with_warmup":
        return cosine_with_warmup(optimizer, **settings)
    if kind == "SequentialLR":
        settings = dict(settings, schedulers=[make_scheduler(optimizer, *one) for one in settings["schedulers"]])
    return getattr(torch.optim.lr_scheduler, kind)(optimizer, **settings)


def observe(accelerator, optimizer, epoch, loss, norm):
    row = {"epoch": epoch, "loss": text_of(loss.detach()), "sync": accelerator.sync_gradients,
           "lr": text_of(optimizer.param_groups[0]["lr"])}
    if not accelerator.sync_gradients:
        return row
    row["skipped"] = bool(accelerator.optimizer_step_was_skipped)
    if norm is not None:
        row["grad_norm"] = text_of(norm)
    if accelerator.scaler is not None and accelerator.scaler.is_enabled():
        row["scale_after"] = text_of(accelerator.scaler.get_scale())
        row["growth_tracker_after"] = int(accelerator.scaler._get_growth_tracker())
    return row


def train(task, mode, orders):
    for state in (AcceleratorState, GradientState, PartialState):
        state._reset_state()
    accelerator = Accelerator(mixed_precision=mode, cpu=True, gradient_accumulation_steps=task.get("accumulation", 1))
    if mode == "fp16":
        accelerator.native_amp = True
        accelerator.scaler = torch.amp.GradScaler("cpu", **task.get("scaler", {}))
    features, labels = load_data(task["data"])
    torch.manual_seed(task["seed"])
    model = torch.nn.Sequential(*(layer(*one) for one in task["layers"]))
    initial = {name: value.clone() for name, value in model.state_dict().items()}
    kind, settings = task["optimizer"]
    optimizer = getattr(torch.optim, kind)(model.parameters(), **settings)
    raw = [model, optimizer, torch.utils.data.DataLoader(torch.utils.data.TensorDataset(features, labels),
                                                         batch_size=task["batch_size"], sampler=GivenOrder(orders))]
    if "scheduler" in task:
        raw.append(make_scheduler(optimizer, *task["scheduler"]))
    model, optimizer, batches, *schedulers = accelerator.prepare(*raw)
    rows = []
    for epoch in range(task["epochs"]):
        for inputs, targets in batches:
            with accelerator.accumulate(model):
                with accelerator.autocast():
                    loss = torch.nn.functional.cross_entropy(model(inputs), targets)
                accelerator.backward(loss)
                norm = None
                if "clip_norm" in task and accelerator.sync_gradients:
                    norm = accelerator.clip_grad_norm_(model.parameters(), task["clip_norm"])
                optimizer.step()
                for scheduler in schedulers:
                    scheduler.step()
                rows.append(observe(accelerator, optimizer, epoch, loss, norm))
                optimizer.zero_grad()
    final = {name: value.contiguous() for name, value in accelerator.unwrap_model(model).state_dict().items()}
    return initial, final, rows, features, labels


def write(name, out):
    task = TASKS[name]
    samples = len(load_data(task["data"])[0])
    orders = [torch.randperm(samples, generator=torch.Generator().manual_seed(7000 + epoch)).tolist()
              for epoch in range(task["epochs"])]
    folder = out / name
    folder.mkdir(parents=True, exist_ok=True)
    for mode in ("no", "fp16", "bf16"):
        initial, final, rows, features, labels = train(task, mode, orders)
        save_file(initial, folder / "initial.safetensors")
        save_file(final, folder / f"final-{mode}.safetensors")
        if task["data"].startswith("made-"):
            save_file({"features": features, "labels": labels}, folder / "data.safetensors")
        trace = {"task": name, "mode": mode, "torch": torch.__version__, "accelerate": accelerate_version, "threads": 1, "plan": task,
                 "order": orders if mode == "no" else "as in trace-no.json", "micro_batches": rows}
        (folder / f"trace-{mode}.json").write_text(json.dumps(trace, separators=(",", ":")))
        steps = [row for row in rows if row["sync"]]
        print(f"{name:26} {mode:5} {len(rows):4} micro-batches {len(steps):4} steps {sum(row['skipped'] for row in steps):4} skipped")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("tasks", nargs="*", default=list(TASKS))
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    for one in arguments.tasks:
        write(one, arguments.out)
