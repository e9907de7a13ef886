import { useEffect, useRef } from 'react';
import uPlot from 'uplot';
import { useScreen } from '../state/screen';

interface ChartProps {
  readonly label: string;
  readonly data: uPlot.AlignedData;
  readonly series: readonly { readonly label: string; readonly bars?: boolean }[];
  readonly height: number;
  readonly xLabel: string;
}

const strokes = ['--amber', '--cyan', '--green', '--text'] as const;
/** Colour is not the only difference between lines. */
const dashes: readonly number[][] = [[], [6, 4], [2, 3], [10, 3, 2, 3]];

function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function options({ series, xLabel, height }: Pick<ChartProps, 'series' | 'xLabel' | 'height'>, width: number): uPlot.Options {
  const axis = { stroke: colour('--quiet'), grid: { stroke: colour('--line'), width: 1 }, ticks: { show: false }, size: 48 };
  return {
    width,
    height,
    scales: { x: { time: false } },
    legend: { show: series.length > 1 || !series[0]?.bars },
    cursor: { drag: { x: false, y: false } },
    axes: [{ ...axis, size: 26 }, axis],
    series: [
      { label: xLabel },
      ...series.map(({ label, bars }, place) => ({
        label,
        stroke: colour(strokes[place % strokes.length] ?? '--text'),
        width: 2,
        dash: dashes[place % dashes.length] ?? [],
        ...(bars && uPlot.paths.bars ? { fill: `${colour('--amber')}88`, paths: uPlot.paths.bars({ size: [0.9, 60] }) } : {}),
        ...(bars ? { points: { show: false } } : {}),
      })),
    ],
  };
}

export function Chart({ label, data, series, height, xLabel }: ChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const theme = useScreen((state) => state.theme);
  const shape = JSON.stringify(series);
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const made = new uPlot(options({ series: JSON.parse(shape), xLabel, height }, element.clientWidth || 300), [[]], element);
    plot.current = made;
    const watch = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height }));
    watch.observe(element);
    return () => {
      watch.disconnect();
      made.destroy();
    };
    // The colours of a chart are those of the theme.
  }, [shape, height, xLabel, theme]);
  // A chart made anew (shape, height) needs its data again
  useEffect(() => plot.current?.setData(data), [data, shape, height, theme]);
  return <div className="chart" ref={box} role="img" aria-label={label} />;
}
