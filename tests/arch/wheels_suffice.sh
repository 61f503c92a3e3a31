#!/usr/bin/env bash
# Hides every CUDA library of this machine but those beside LibTorch, and runs the engine there: the pinned wheels must suffice.
# Usage: wheels_suffice.sh PROGRAM
set -euo pipefail
program=$1
hidden=$(mktemp -d)
trap 'rm -rf "$hidden"' EXIT
mkdir "$hidden/empty" "$hidden/home"

inside() {
    set -eu
    for folder in /usr/local/cuda /usr/local/cuda-* /opt/cuda /usr/lib/x86_64-linux-gnu/nvidia /usr/lib/nvidia; do
        if [ -d "$folder" ]; then mount --bind "$1/empty" "$(readlink -f "$folder")"; fi
    done
    for library in /usr/lib/x86_64-linux-gnu/lib{cuda,cudart,cupti,cublas,cublasLt,cudnn,nccl,nvrtc,cufft,curand,cusolver,cusparse}.so*; do
        if [ -e "$library" ]; then mount --bind /dev/null "$(readlink -f "$library")" || true; fi
    done
    unset LD_LIBRARY_PATH
    "$2" probe --json >"$1/probe.json"
}
export -f inside

unshare_options=(-m)
if [ "$(id -u)" -ne 0 ]; then unshare_options=(-r -m); fi
unshare "${unshare_options[@]}" bash -c 'inside "$1" "$2"' inside "$hidden" "$program"
python3 - "$hidden/probe.json" <<'PYTHON'
import json, sys
report = json.load(open(sys.argv[1]))
cpu = next(device for device in report["devices"] if device["id"] == "cpu")
tried = {mode["mode"]: mode["tried_ok"] for mode in cpu["modes"] if mode["tried"]}
assert tried.get("no") and tried.get("fp16") and tried.get("bf16"), tried
print("forward and backward ran in", ", ".join(sorted(tried)), "with no CUDA library but the pinned wheels'")
PYTHON
