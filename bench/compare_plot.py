"""The ratios of a comparison as an SVG: a panel an op and layout, a mark a layer and dtype."""
import matplotlib

matplotlib.use("svg")
matplotlib.rcParams["svg.hashsalt"] = "convgrad"  # the same file for the same rows
import matplotlib.pyplot as plt

from compare_report import ratios

MARKS = {"f32": "o", "f64": "s", "bf16": "^", "f16": "v"}


def draw_panel(axes, found, shapes, kind):
    op, layout = kind
    for dtype, mark in MARKS.items():
        points = [(shapes.index(shape), value) for (shape, *rest), value in found.items()
                  if rest == [dtype, layout, op]]
        if points:
            axes.plot(*zip(*points), mark, markersize=4, label=dtype)
    axes.axhline(1, color="black", linewidth=0.8)
    axes.set_yscale("log", base=2)
    axes.yaxis.set_major_formatter("{x:g}")
    axes.set_title(f"{op}, channels {layout}", fontsize=9)
    axes.grid(axis="y", which="both", linewidth=0.3)


def draw(report, path):
    found = ratios(report["rows"])
    if not found:
        return
    shapes = list(dict.fromkeys(cell[0] for cell in found))
    ops = sorted({cell[3] for cell in found})
    layouts = sorted({cell[2] for cell in found}, reverse=True)
    figure, panels = plt.subplots(len(ops), len(layouts), sharex=True, sharey=True, squeeze=False, layout="constrained",
                                  figsize=(2 + (2 + 0.17 * len(shapes)) * len(layouts), 1.5 + 2.2 * len(ops)))
    for row, op in enumerate(ops):
        for column, layout in enumerate(layouts):
            draw_panel(panels[row][column], found, shapes, (op, layout))
    for axes in panels[-1]:
        axes.set_xticks(range(len(shapes)), shapes, rotation=90, fontsize=7)
    panels[0][0].legend(fontsize=7, ncols=4)
    threads = report["rows"][0]["threads"]
    figure.supylabel("best peer's time / convgrad's time", fontsize=9)
    figure.suptitle(f"{report['machine']['cpu']}, {threads} thread{'s' if threads > 1 else ''}", fontsize=9)
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
