"""Checks that the tree is what ARCHITECTURE.md says: includes follow the declared arrows, LibTorch enters by one door,
spdlog is known to one file, and no file has outgrown its room. Usage: check_architecture.py SOURCE_DIR PARTS_TXT"""
import pathlib
import re
import sys

TORCH_SIDE = {"engine", "models", "data", "numerics", "distributed", "checkpoint", "devices", "cuda", "run"}
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)
LIMIT = 400
WATCHED = {"main_window": 250, "train_loop": 250, "accelerator": 250}
TORCH_HEADERS_LIMIT = 25
PAGES = {"lessons": "lessons_page", "numerics": "numerics_page", "replay": "replay_page"}  # folders of ui/ whose part has another name


SCRIPT_READERS = {"core/models/script_file_model.cpp": "torch/csrc/jit/serialization/import.h",
                  "core/models/script_findings.cpp": "torch/csrc/jit/ir/constants.h"}


def declared_parts(path):
    parts = {}
    for line in path.read_text().splitlines():
        name, _, uses = line.partition(":")
        parts[name] = set(uses.split())
    return parts


def reachable(part, parts):
    """All parts whose headers may be seen: an arrow hands on what its target uses."""
    seen, stack = set(), [part]
    while stack:
        for used in parts.get(stack.pop(), ()):
            if used not in seen:
                seen.add(used)
                stack.append(used)
    return seen


def owner(path, source):
    pieces = path.relative_to(source).parts
    if pieces[0] == "core" and len(pieces) > 2:
        return pieces[1]
    if pieces[0] == "ui" and len(pieces) > 2:
        return PAGES.get(pieces[1], pieces[1])
    return None


def main():
    source, parts = pathlib.Path(sys.argv[1]), declared_parts(pathlib.Path(sys.argv[2]))
    faults, torch_headers, files = [], [], 0
    roots = [source / name for name in ("core", "ui", "app", "tests")]
    for path in sorted(p for root in roots for p in root.rglob("*") if p.suffix in (".h", ".cpp")):
        files += 1
        where = path.relative_to(source).as_posix()
        text = path.read_text()
        part = owner(path, source)
        lines = text.count("\n")
        limit = WATCHED.get(path.stem, LIMIT)
        if lines > limit:
            faults.append(f"{where}: {lines} lines, more than {limit}: a class is missing")
        for included in INCLUDE.findall(text):
            first = included.split("/")[0]
            # c10d is no part of torch/torch.h: its headers want defines of their own, which core/distributed alone sets.
            is_c10d = included.startswith("torch/csrc/distributed/") and where.startswith("core/distributed/") and path.suffix == ".cpp"
            # Nor is what reads TorchScript files and their graphs; one file each does.
            is_reader = SCRIPT_READERS.get(where) == included
            # The plugin's own door: it alone is linked with LibTorch's CUDA part.
            is_cuda = where.startswith("core/cuda/") and path.suffix == ".cpp"
            if first in ("torch", "ATen", "c10") and where != "core/torch_pch.h" and not is_c10d and not is_reader and not is_cuda:
                faults.append(f"{where}: includes {included}; LibTorch comes in by core/torch_pch.h alone")
            if first == "spdlog" and where != "core/base/log.cpp":
                faults.append(f"{where}: includes {included}; spdlog is known to core/base/log.cpp alone")
            if included == "torch_pch.h":
                if path.suffix == ".h" and where.startswith("core/"):
                    torch_headers.append(where)
                if where.startswith("ui/") or (part is not None and part not in TORCH_SIDE):
                    faults.append(f"{where}: is not on the torch side, but includes {included}")
            target = included.split("/")[1] if first == "ui" and included.count("/") > 1 else first
            target = PAGES.get(target, target) if first == "ui" else target
            is_part_header = target in parts and (source / "core" / included).exists() or first == "ui" and target in parts
            if part in parts and is_part_header and target != part and target not in reachable(part, parts):
                faults.append(f"{where}: includes {included}, but part '{part}' doesn't use '{target}'")
    if files < 50:
        faults.append(f"only {files} files were looked at: the tree isn't where this test expects it")
    if len(torch_headers) > TORCH_HEADERS_LIMIT:
        faults.append(f"{len(torch_headers)} headers include torch_pch.h, more than {TORCH_HEADERS_LIMIT}: {torch_headers}")
    print("\n".join(faults) or f"{files} files, {len(torch_headers)} headers with LibTorch: all as declared")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
