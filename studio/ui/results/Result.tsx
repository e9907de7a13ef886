import { useCallback, useMemo, useState } from 'react';
import { axisLetters, findOp } from '../../core/ops';
import type { Pin } from '../../core/page';
import { isSmall } from '../../core/panels';
import {
  cellIndex,
  countOf,
  flatIndex,
  nestedText,
  type Slice,
  shapeText,
  sliceCell,
  sliceQuery,
  sliceSize,
  startSlice,
} from '../../core/tensor';
import { api, type NodeEvent, type TensorSlice } from '../api';
import { useRuns } from '../state/runs';
import { say, show, useScreen } from '../state/screen';
import { Difference } from './Difference';
import { type Cell, GridView } from './GridView';
import { HeatMap } from './HeatMap';
import { Panels } from './Panels';
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

type Mode = 'all' | 'slice' | 'heat';

const modes: readonly (readonly [Mode, string])[] = [
  ['all', 'All slices'],
  ['slice', 'One slice'],
  ['heat', 'Heat map'],
];

function ShownResult({ pin, output, pins }: { pin: Pin; output: Output; pins: readonly Pin[] }) {
  const { shape } = output;
  const run = useRuns((state) => state.run);
  const letters = useLetters(pin, shape.length);
  const whole = isSmall(shape) && shape.length > 2;
  const [slice, setSlice] = useState<Slice>(() => startSlice(shape, letters));
  const [index, setIndex] = useState<readonly number[]>(() => shape.map(() => 0));
  const [mode, setMode] = useState<Mode>(whole ? 'all' : 'slice');
  // A small tensor is drawn whole, in numbers and in colours.
  const panels = whole && mode !== 'slice';
  const { tensor, problem } = useTensorSlice(run, pin, panels ? shape.map(() => ':').join(',') : sliceQuery(slice));
  const { rows, columns } = sliceSize(shape, slice);
  const text = useCallback(
    (row: number, column: number): string => tensor?.data[sliceCell(shape, slice, row, column)] ?? '\u00b7',
    [tensor, shape, slice],
  );
  const active: Cell = { row: index[slice.rows] ?? 0, column: index[slice.columns] ?? 0 };
  const setActive = ({ row, column }: Cell): void => setIndex(cellIndex(slice, row, column));
  const moveSlice = (next: Slice): void => {
    setSlice(next);
    setIndex(cellIndex(next, index[next.rows] ?? 0, index[next.columns] ?? 0));
  };
  const value = panels ? tensor?.data[flatIndex(shape, index)] : text(active.row, active.column);
  const chosen = useMemo(() => [index], [index]);
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
          {output.dtype} {shapeText(shape)}, {countOf(shape)} values
        </p>
        <div className="modes" role="radiogroup" aria-label="View">
          {modes
            .filter(([id]) => id !== 'all' || whole)
            .map(([id, title]) => (
              <label key={id}>
                <input type="radio" name="mode" checked={mode === id} onChange={() => setMode(id)} />
                <span>{title}</span>
              </label>
            ))}
        </div>
        {!panels && <SlicePickers shape={shape} letters={letters} slice={slice} onChange={moveSlice} />}
        <div className="result-tools">
          <CopyButton whole={panels} tensor={tensor} rows={rows} columns={columns} text={text} />
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
          {pin[0]}[{index.join(', ')}] = <b data-testid="cell-value">{value ?? '\u00b7'}</b>
        </p>
        {problem && <p className="pin-error">{problem}</p>}
        {tensor && tensor.data.length < tensor.total && (
          <p className="quiet">
            The first {tensor.data.length} of the {tensor.total} values of this slice are shown; the .npy file has all.
          </p>
        )}
        {panels && (
          <Panels
            label={`All values of ${pin[0]}`}
            tone="r"
            pin={pin}
            shape={shape}
            letters={letters}
            fed={chosen}
            active={index}
            onChoose={setIndex}
            heat={mode === 'heat' ? greatest(tensor) : undefined}
          />
        )}
        {mode === 'slice' && (
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
        )}
        {mode === 'heat' && !panels && (
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
  readonly whole: boolean;
  readonly tensor: TensorSlice | undefined;
  readonly rows: number;
  readonly columns: number;
  readonly text: (row: number, column: number) => string;
}

/** Exact texts: a slice with tabs, as a spreadsheet takes it; a whole tensor as nested lists. */
function CopyButton({ whole, tensor, rows, columns, text }: CopyButtonProps) {
  const copy = async (): Promise<void> => {
    const lines = Array.from({ length: rows }, (_, row) =>
      Array.from({ length: columns }, (_, column) => text(row, column)).join('\t'),
    );
    await navigator.clipboard.writeText(whole && tensor ? nestedText(tensor.shape, tensor.data) : lines.join('\n'));
    say('The exact values are in the clipboard.');
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
