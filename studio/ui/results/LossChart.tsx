import { useMemo } from 'react';
import type { AlignedData } from 'uplot';
import { shortNumber } from '../../core/tensor';
import { stopRun, useRuns } from '../state/runs';
import { openDialog } from '../state/screen';
import { Chart } from './Chart';

export function LossChart() {
  const loop = useRuns((state) => state.loop);
  const running = useRuns((state) => state.state === 'running');
  const data = useMemo((): AlignedData => {
    const watch = loop?.watch ?? [];
    return [
      loop?.steps.slice() ?? [],
      ...watch.map((_, place) => loop?.values.map((each) => each[place] ?? null) ?? []),
    ] as AlignedData;
  }, [loop]);
  const series = useMemo(() => (loop?.watch ?? []).map((pin) => ({ label: pin.join('.') })), [loop?.watch]);
  if (!loop) {
    return (
      <div className="padded">
        <p className="quiet">
          A loop runs the page again and again and draws a number of each step, such as the loss of a training.
        </p>
        <button type="button" className="button" onClick={() => openDialog({ kind: 'loop' })}>
          Start a loop
        </button>
      </div>
    );
  }
  const last = loop.values.at(-1);
  return (
    <div className="loss">
      <div className="loss-head">
        <span data-testid="loop-step">
          step {loop.steps.at(-1) ?? 0} of {loop.of}
        </span>
        {last?.map((value, place) => (
          <span key={loop.watch[place]?.join()} className="loss-last">
            {loop.watch[place]?.[0]} <b>{value === null ? 'not finite' : shortNumber(String(value))}</b>
          </span>
        ))}
        {running && (
          <button type="button" className="button strong" onClick={() => void stopRun()}>
            {'\u25a0'} Stop
          </button>
        )}
      </div>
      <Chart
        label={`Values of the loop, step ${loop.steps.at(-1) ?? 0}`}
        data={data}
        series={series}
        height={220}
        xLabel="step"
      />
    </div>
  );
}
