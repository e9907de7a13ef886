"""Ratios of a comparison: the best peer's time over ours, so above 1 convgrad is the faster one.

The best peer of a cell is the fastest rival with a right answer whose tensors are plain in the cell's layout, casts by
hand included.
"""
import collections
import math

CELL = ("shape", "dtype", "layout", "op")
OURS = "convgrad"


def cells_of(rows):
    """{cell: (our row, best peer's row or None)}, in the order of the run; cells that we got wrong have no ratio."""
    cells = {}
    for row in rows:
        ours, best = cells.setdefault(tuple(row[key] for key in CELL), (None, None))
        if row["peer"] == OURS:
            ours = row
        elif row["outcome"] == "ok" and (best is None or row["ms"] < best["ms"]):
            best = row
        cells[tuple(row[key] for key in CELL)] = ours, best
    return cells


def ratio(ours, best):
    if ours is None or ours["outcome"] != "ok" or best is None:
        return None
    return best["ms"] / ours["ms"]


def ratios(rows):
    """{cell: ratio} of the cells that have one."""
    found = {cell: ratio(*pair) for cell, pair in cells_of(rows).items()}
    return {cell: value for cell, value in found.items() if value is not None}


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def print_head():
    print(f"{'shape':<26} {'cell':<18} {'ours ms':>10} {'GF/s':>7} {'best ms':>10}  {'best peer':<15} {'ratio':>6}",
          flush=True)


def print_cell(cell, ours, best):
    shape, dtype, layout, op = cell
    left = f"{ours['ms']:>10.3f} {ours['gflops']:>7.1f}" if ours["outcome"] == "ok" else f"{'WRONG':>10} {'':>7}"
    right = f"{best['ms']:>10.3f}  {best['peer']:<15}" if best else f"{'-':>10}  {'none':<15}"
    value = ratio(ours, best)
    last = f"{value:.2f}" if value else "-"
    print(f"{shape:<26} {dtype:<4} {layout:<5} {op:<7} {left} {right} {last:>6}", flush=True)


def print_cells(rows):
    for cell, (ours, best) in cells_of(rows).items():
        print_cell(cell, ours, best)


def print_means(rows):
    kinds = collections.defaultdict(list)
    for (_, dtype, layout, op), value in ratios(rows).items():
        kinds[op, dtype, layout].append(value)
    print(f"\n{'geometric mean':<26} {'cells':>6} {'ratio':>6} {'least':>6} {'most':>7} {'faster in':>10}")
    for (op, dtype, layout), values in sorted(kinds.items()):
        faster = sum(value > 1 for value in values)
        print(f"{op:<8} {dtype:<5} {layout:<11} {len(values):>6} {geometric_mean(values):>6.2f} {min(values):>6.2f} "
              f"{max(values):>7.2f} {faster:>10}")


def print_worst(rows, count=10):
    cells, found = cells_of(rows), ratios(rows)
    print(f"\nworst {count} cells")
    for cell in sorted(found, key=found.get)[:count]:
        print_cell(cell, *cells[cell])


def print_outcomes(rows):
    outcomes = collections.defaultdict(collections.Counter)
    for row in rows:
        outcomes[row["peer"]][row["outcome"]] += 1
    names = ("ok", "refused", "timeout", "crash", "wrong")
    print(f"\n{'cells of':<16} " + " ".join(f"{name:>8}" for name in names))
    for peer, counts in sorted(outcomes.items()):
        print(f"{peer:<16} " + " ".join(f"{counts[name]:>8}" for name in names))


def print_summary(rows):
    print_means(rows)
    print_worst(rows)
    print_outcomes(rows)
