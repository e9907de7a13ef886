import { useState } from 'react';
import { findOp } from '../../core/ops';
import { meaning, type Pin, readPage, readView } from '../../core/page';
import { api } from '../api';
import { withPlaces } from '../edits';
import { change, currentPage, usePage } from '../state/document';
import { closeDialog, say, select, useScreen } from '../state/screen';
import { Dialog } from './Dialog';

/** Outputs that could be differentiated and tensors to differentiate by, each to tick. */
function usePins(): { outputs: Pin[]; inputs: Pin[] } {
  const page = usePage();
  const table = useScreen((state) => state.table);
  const all = page.nodes.flatMap((node) => {
    const op = findOp(table, node.op);
    return (op?.outputs ?? []).map((output) => ({ pin: [node.id, output.name] as Pin, source: op?.inputs.length === 0 }));
  });
  const read = new Set(page.edges.map(([from]) => from.join('\n')));
  const typed = new Set(page.view.typed);
  return {
    outputs: all.filter(({ pin, source }) => !source && !typed.has(pin[0])).map(({ pin }) => pin),
    inputs: all.filter(({ pin, source }) => source && read.has(pin.join('\n')) && !typed.has(pin[0])).map(({ pin }) => pin),
  };
}

function checkText({ ok, by_input }: Awaited<ReturnType<typeof api.gradcheck>>): string {
  const lines = by_input.map(
    ({ input, error, tolerance }) => `${input.join('.')}: off by ${error.toPrecision(3)}, allowed ${tolerance.toPrecision(3)}`,
  );
  return [`The gradient ${ok ? 'agrees' : 'does not agree'} with finite differences in double.`, ...lines].join('\n');
}

export function DifferentiateDialog() {
  const { outputs, inputs } = usePins();
  const [output, setOutput] = useState(outputs.at(-1)?.join('.') ?? '');
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set(inputs.map((pin) => pin.join('.'))));
  const [answer, setAnswer] = useState<{ text: string; bad: boolean }>();
  const from = outputs.filter((pin) => pin.join('.') === output);
  const by = inputs.filter((pin) => chosen.has(pin.join('.')));
  const attempt = async (run: () => Promise<void>): Promise<void> => {
    try {
      await run();
    } catch (error) {
      setAnswer({ text: error instanceof Error ? error.message : String(error), bad: true });
    }
  };
  const insert = (): Promise<void> =>
    attempt(async () => {
      const page = currentPage();
      const { page: grown, added } = await api.differentiate(meaning(page), from, by);
      const next = { ...readPage(grown), view: readView(page.view) };
      change([{ do: 'replace', page: withPlaces(next) }]);
      select(added);
      closeDialog();
      say(`Added ${added.length} gradient blocks.`);
    });
  const check = (): Promise<void> =>
    attempt(async () => {
      const checked = await api.gradcheck(meaning(currentPage()), from, by);
      setAnswer({ text: checkText(checked), bad: !checked.ok });
    });
  const toggle = (name: string): void => {
    const next = new Set(chosen);
    if (!next.delete(name)) next.add(name);
    setChosen(next);
  };
  return (
    <Dialog title="Differentiate">
      <label className="stacked">
        <span>Output</span>
        <select className="field" value={output} onChange={(event) => setOutput(event.target.value)}>
          {outputs.map((pin) => (
            <option key={pin.join('.')}>{pin.join('.')}</option>
          ))}
        </select>
      </label>
      <fieldset className="ticks">
        <legend>With respect to</legend>
        {inputs.map((pin) => (
          <label key={pin.join('.')}>
            <input type="checkbox" checked={chosen.has(pin.join('.'))} onChange={() => toggle(pin.join('.'))} /> {pin.join('.')}
          </label>
        ))}
      </fieldset>
      {answer && (
        <p className={answer.bad ? 'pin-error' : 'good'} role="status">
          {answer.text}
        </p>
      )}
      <div className="dialog-foot">
        <button type="button" className="button" disabled={!from.length || !by.length} onClick={() => void check()}>
          Check the gradient
        </button>
        <button type="button" className="button strong" disabled={!from.length || !by.length} onClick={() => void insert()}>
          Insert the blocks
        </button>
      </div>
    </Dialog>
  );
}
