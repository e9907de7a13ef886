import { useMemo } from 'react';
import type { AlignedData } from 'uplot';
import { shortNumber } from '../../core/tensor';
import type { Stats } from '../api';
import { Chart } from './Chart';

function middles(histogram: NonNullable<Stats['histogram']>): number[] {
  const width = (histogram.to - histogram.from) / Math.max(1, histogram.counts.length);
  return histogram.counts.map((_, place) => histogram.from + (place + 0.5) * width);
}

const series = [{ label: 'values', bars: true }];

/** Of the whole tensor, whatever slice is shown. */
export function StatsTable({ stats }: { stats: Stats }) {
  const { histogram } = stats;
  const data = useMemo((): AlignedData | undefined => {
    if (!histogram?.counts.length || !(histogram.to > histogram.from)) return undefined;
    return [middles(histogram), [...histogram.counts]];
  }, [histogram]);
  return (
    <>
      <dl className="facts">
        <dt>min</dt>
        <dd>{shortNumber(String(stats.min ?? '-'), 9)}</dd>
        <dt>max</dt>
        <dd>{shortNumber(String(stats.max ?? '-'), 9)}</dd>
        <dt>mean</dt>
        <dd>{shortNumber(String(stats.mean ?? '-'), 9)}</dd>
        <dt>NaN</dt>
        <dd className={stats.nan ? 'warn' : ''}>{stats.nan ? `\u26a0 ${stats.nan}` : 0}</dd>
        <dt>infinite</dt>
        <dd className={stats.inf ? 'warn' : ''}>{stats.inf ? `\u26a0 ${stats.inf}` : 0}</dd>
      </dl>
      {data && <Chart label="Histogram of the values" data={data} series={series} height={110} xLabel="value" />}
    </>
  );
}
