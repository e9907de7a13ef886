import { useState } from 'react';
import { pinKey } from '../../core/fits';
import { type Pin, samePin } from '../../core/page';
import { countOf } from '../../core/tensor';
import { currentPage, usePage } from '../state/document';
import { startRun } from '../state/runs';
import { closeDialog, useScreen } from '../state/screen';
import { useShapes } from '../state/shapes';
import { Dialog } from './Dialog';

/** Outputs of one element that something computes: what a chart can follow. */
function useScalars(): Pin[] {
  const page = usePage();
  const outputs = useShapes((state) => state.outputs);
  const fed = new Set(page.edges.map(([, to]) => to[0]));
  return page.nodes.flatMap((node) =>
    Array.from(outputs.entries())
      .filter(
        ([key, output]) =>
          key === pinKey([node.id, output.pin]) && fed.has(node.id) && output.shape && countOf(output.shape) === 1,
      )
      .map(([, output]): Pin => [node.id, output.pin]),
  );
}

export function LoopDialog() {
  const scalars = useScalars();
  const proposed = useScreen((state) => state.proposedLoop);
  const likely = scalars.filter((pin) =>
    proposed ? proposed.watch.some((each) => samePin(each, pin)) : /loss|cost|error/i.test(pin[0]),
  );
  const [steps, setSteps] = useState(String(proposed?.steps ?? 200));
  // Until a number is ticked the choice follows the shapes, which may come after the dialog has opened.
  const [ticked, setTicked] = useState<ReadonlySet<string>>();
  const chosen = ticked ?? new Set((likely.length ? likely : scalars.slice(0, 1)).map((pin) => pin.join('.')));
  const shapesToCome = useShapes((state) => state.busy);
  const count = Number(steps);
  const start = (): void => {
    const watch = scalars.filter((pin) => chosen.has(pin.join('.')));
    closeDialog();
    useScreen.setState({ drawer: 'loss' });
    void startRun(currentPage(), { steps: count, watch });
  };
  const toggle = (name: string): void => {
    const next = new Set(chosen);
    if (!next.delete(name)) next.add(name);
    setTicked(next);
  };
  return (
    <Dialog title="Run as a loop">
      <label className="stacked">
        <span>Steps</span>
        <input className="field number" value={steps} inputMode="numeric" onChange={(event) => setSteps(event.target.value)} />
      </label>
      <fieldset className="ticks">
        <legend>Numbers to draw</legend>
        {scalars.length === 0 && !shapesToCome && <p className="quiet">No output of this page is a single number.</p>}
        {scalars.map((pin) => (
          <label key={pin.join('.')}>
            <input type="checkbox" checked={chosen.has(pin.join('.'))} onChange={() => toggle(pin.join('.'))} /> {pin.join('.')}
          </label>
        ))}
      </fieldset>
      <div className="dialog-foot">
        <span />
        <button
          type="button"
          className="button strong"
          disabled={shapesToCome || !Number.isInteger(count) || count < 1}
          onClick={start}
        >
          Start
        </button>
      </div>
    </Dialog>
  );
}
