#!/usr/bin/env python3
"""Weights that Python pickled (pytorch_model.bin, model.pt), as safetensors that Mantissa starts from.

    python3 pickled_to_safetensors.py CHECKPOINT_FOLDER     writes model.safetensors into it
    python3 pickled_to_safetensors.py model.pt out.safetensors

Needs torch and safetensors. Pickles are programs: torch reads them with weights_only=True, which takes tensors and refuses
everything else. Of an optimizer's or scheduler's state nothing is taken: Mantissa keeps its own.
"""
import os
import sys

NAMES = ("pytorch_model.bin", "model.pt", "model.bin", "model.pth")


def source_of(place):
    if not os.path.isdir(place):
        return place
    found = [os.path.join(place, name) for name in NAMES if os.path.isfile(os.path.join(place, name))]
    if len(found) != 1:
        sys.exit(f"{place} holds {'several of' if found else 'none of'} {', '.join(NAMES)}: name the file")
    return found[0]


def tensors_of(state, torch):
    """The state dict itself, or what is commonly wrapped around it; other values are left out, and named."""
    for key in ("state_dict", "model_state_dict", "model"):
        if isinstance(state, dict) and isinstance(state.get(key), dict):
            state = state[key]
    if not isinstance(state, dict):
        sys.exit(f"it holds a {type(state).__name__}, a dict of tensors is needed: save model.state_dict()")
    tensors = {str(name): value.detach().contiguous().clone() for name, value in state.items() if isinstance(value, torch.Tensor)}
    for name, value in state.items():
        if not isinstance(value, torch.Tensor):
            print(f"left out: {name}, a {type(value).__name__}", file=sys.stderr)
    if not tensors:
        sys.exit("it holds no tensor")
    return tensors


def main():
    if len(sys.argv) not in (2, 3) or sys.argv[1] in ("-h", "--help"):
        sys.exit(__doc__)
    try:
        import torch
        from safetensors.torch import save_file
    except ImportError as missing:
        sys.exit(f"{missing}: pip install torch safetensors")
    source = source_of(sys.argv[1])
    target = sys.argv[2] if len(sys.argv) == 3 else os.path.join(os.path.dirname(os.path.abspath(source)), "model.safetensors")
    if os.path.exists(target):
        sys.exit(f"{target} is there already and stays as it is: name another file")
    try:
        state = torch.load(source, map_location="cpu", weights_only=True)
    except Exception as problem:  # torch raises many kinds
        sys.exit(f"{source} can't be read: {str(problem).splitlines()[0].split('. ')[0]}")
    tensors = tensors_of(state, torch)
    save_file(tensors, target + ".part", metadata={"format": "pt"})
    os.replace(target + ".part", target)
    print(f"{target}: {len(tensors)} tensors")


if __name__ == "__main__":
    main()
