#!/usr/bin/env python3
"""The shared library shows its public names and nothing else: symbols_test.py libconvgrad.so."""
import re
import subprocess
import sys

C_FUNCTION = re.compile(r"convgrad_[a-z0-9_]+")
CPP_NAME = re.compile(r"(?:typeinfo for |typeinfo name for |vtable for )?(convgrad::.+)")
# Names that live in namespace convgrad but in no public header.
INTERNAL = re.compile(
    r"convgrad::(?:reference::|test::|\(anonymous|Engine\b|engines\(|engine_|pool_run|usable_cores|spread|refuse|concat"
    r"|aligned_buffer|guarded|Work\b|window|operator<<|Fixed|fixed_|Footprint|byte_range|gather|scatter|id_of)")


def exported(library):
    lines = subprocess.run(["nm", "-DC", "--defined-only", library], capture_output=True, text=True, check=True)
    return [line.split(maxsplit=2)[2] for line in lines.stdout.splitlines() if len(line.split(maxsplit=2)) == 3]


def complaint(name):
    """Why a name must not be exported; None when it may."""
    if C_FUNCTION.fullmatch(name):
        return None
    cpp = CPP_NAME.fullmatch(name)
    if cpp is None:
        return "is neither a convgrad_ function nor in namespace convgrad"
    return "is internal" if INTERNAL.match(cpp.group(1)) else None


def self_check():
    """The test would notice: names that must be refused, and names that must pass."""
    bad = ["std::vector<long>::push_back(long&&)", "convgrad::reference::compute(convgrad::Geometry const&)",
           "convgrad::(anonymous namespace)::Pool::run()", "convgrad::pool_run(long, int)", "main",
           "convgrad::engine_reference()", "typeinfo for convgrad::Engine", "typeinfo for std::exception"]
    good = ["convgrad_version", "convgrad::Tensor::at(long) const", "vtable for convgrad::Error",
            "convgrad::all_engines()", "convgrad::EngineInfo::EngineInfo()"]
    return [n for n in bad if complaint(n) is None] + [n for n in good if complaint(n) is not None]


def main(library):
    names = exported(library)
    problems = [f"{name} {complaint(name)}" for name in names if complaint(name)]
    problems += [f"the test misjudges {name}" for name in self_check()]
    for wanted in ("convgrad_plan_run", "convgrad_check"):
        if wanted not in names:
            problems.append(f"{wanted} is not exported")
    print(*problems, sep="\n")
    print(f"{len(names)} exported names, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
