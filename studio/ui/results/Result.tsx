import { useCallback, useMemo, useState } from 'react';
import { axisLetters, findOp } from '../../core/ops';
import type { Pin } from '../../core/page';
import { cellIndex, countOf, type Slice, shapeText, sliceCell, sliceQuery, sliceSize, startSlice } from '../../core/tensor';
import { api, type NodeEvent, type TensorSlice } from '../api';
import { useRuns } from '../state/runs';
import { say, show, useScreen } from '../state/screen';
import { Difference } from './Difference';
import { type Cell, GridView } from './GridView';
import { HeatMap } from './HeatMap';
import { SlicePickers } from './SlicePickers';
import { StatsTable } from './StatsTable';
import { useTensorSlice } from './tensors';

type Output = NodeEvent['outputs'][number];

export function Result() {
  const shown = useScreen((state) => state.shown);
  const nodes = useRuns((state) => state.nodes);
  const pins = Array.from(nodes.values()).flatMap((event) => event.outputs.map((output): Pin => [event.id, output.pin]));
  const pin = shown ?? pins.at(-1);
  const output = pin && nodes.get(pin[0])?.outputs.find((each) => each.pin === pin[1]);
  if (!pin || !output) return <p className="quiet padded">Run the page, then click the grey read-out of a block.</p>;
  return <ShownResult key={`${pin.join()}${output.shape.join()}`} pin={pin} output={output} pins={pins} />;
}

function useLetters(pin: Pin, rank: number): readonly string[] {
  const table = useScreen((state) => state.table);
  const node = useRuns((state) => state.page?.nodes.find((each) => each.id === pin[0]));
  const op = node && findOp(table, node.op);
  return useMemo(
    () => (op && node ? axisLetters(op, node, pin[1], rank) : Array.from({ length: rank }, (_, axis) => `${axis}`)),
    [op, node, pin, rank],
  );
}

function ShownResult({ pin, output, pins }: { pin: Pin; output: Output; pins: readonly Pin[] }) {
  const run = useRuns((state) => state.run);
  const letters = useLetters(pin, output.shape.length);
  const [slice, setSlice] = useState<Slice>(() => startSlice(output.shape, letters));
  const [active, setActive] = useState<Cell>({ row: 0, column: 0 });
  const [mode, setMode] = useState<'numbers' | 'heat'>('numbers');
  const { tensor, problem } = useTensorSlice(run, pin, sliceQuery(slice));
  const { rows, columns } = sliceSize(output.shape, slice);
  const text = useCallback(
    (row: number, column: number): string => tensor?.data[sliceCell(output.shape, slice, row, column)] ?? '\u00b7',
    [tensor, output.shape, slice],
  );
  const index = cellIndex(slice, active.row, active.column);
  return (
    <div className="result-window">
      <div className="result-side">
        <label className="stacked">
          <span>Tensor</span>
          <select
            className="field"
            value={pin.join('.')}
            onChange={(event) => show(pins.find((each) => each.join('.') === event.target.value) ?? pin)}
          >
            {pins.map((each) => (
              <option key={each.join('.')}>{each.join('.')}</option>
            ))}
          </select>
        </label>
        <p className="result-kind">
          {output.dtype} {shapeText(output.shape)}, {countOf(output.shape)} values
        </p>
        <SlicePickers shape={output.shape} letters={letters} slice={slice} onChange={setSlice} />
        <div className="result-tools">
          <button
            type="button"
            className="button"
            aria-pressed={mode === 'heat'}
            onClick={() => setMode(mode === 'heat' ? 'numbers' : 'heat')}
          >
            {mode === 'heat' ? 'Numbers' : 'Heat map'}
          </button>
          <CopyButton tensor={tensor} rows={rows} columns={columns} text={text} />
          {run && (
            <a className="button" href={api.npyUrl(run, pin)} download={`${pin[0]}.npy`}>
              .npy
            </a>
          )}
          <ExplainButton pin={pin} index={index} />
        </div>
      </div>
      <div className="result-main">
        <p className="result-cell" aria-live="polite">
          {pin[0]}[{index.join(', ')}] = <b data-testid="cell-value">{text(active.row, active.column)}</b>
        </p>
        {problem && <p className="pin-error">{problem}</p>}
        {mode === 'numbers' ? (
          <GridView
            label={`Values of ${pin[0]}`}
            rows={rows}
            columns={columns}
            active={active}
            onActive={setActive}
            text={text}
            rowLetter={letterOf(letters, slice.rows)}
            columnLetter={letterOf(letters, slice.columns)}
          />
        ) : (
          <HeatMap rows={rows} columns={columns} text={text} most={greatest(tensor)} active={active} onActive={setActive} />
        )}
      </div>
      <div className="result-side">
        {tensor && <StatsTable stats={tensor.stats} />}
        <Difference pin={pin} pins={pins} />
      </div>
    </div>
  );
}

function letterOf(letters: readonly string[], axis: number): string {
  const letter = letters[axis] ?? '';
  return /^\d+$/.test(letter) ? '' : letter;
}

function greatest(tensor: TensorSlice | undefined): number {
  const values = [tensor?.stats.min, tensor?.stats.max].map(Number).filter(Number.isFinite);
  return Math.max(0, ...values.map(Math.abs));
}

interface CopyButtonProps {
  readonly tensor: TensorSlice | undefined;
  readonly rows: number;
  readonly columns: number;
  readonly text: (row: number, column: number) => string;
}

/** Exact texts with tabs between them: what a spreadsheet takes. */
function CopyButton({ tensor, rows, columns, text }: CopyButtonProps) {
  const copy = async (): Promise<void> => {
    const lines = Array.from({ length: rows }, (_, row) =>
      Array.from({ length: columns }, (_, column) => text(row, column)).join('\t'),
    );
    await navigator.clipboard.writeText(lines.join('\n'));
    say(`${rows * columns} exact values are in the clipboard.`);
  };
  return (
    <button type="button" className="button" disabled={!tensor} onClick={() => void copy()}>
      Copy
    </button>
  );
}

function ExplainButton({ pin, index }: { pin: Pin; index: readonly number[] }) {
  const node = useRuns((state) => state.page?.nodes.find((each) => each.id === pin[0]));
  if (!node || !/^(Depthwise)?Conv/i.test(node.op)) return null;
  return (
    <button
      type="button"
      className="button strong"
      onClick={() => useScreen.setState({ drawer: 'explain', shown: pin, explained: index })}
    >
      Explain this cell
    </button>
  );
}
