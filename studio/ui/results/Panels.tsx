import { type KeyboardEvent, memo, useEffect, useMemo, useRef } from 'react';
import type { Pin } from '../../core/page';
import { isSmall, type Panel, panelsOf } from '../../core/panels';
import { cellIndex, flatIndex, indexOf, shortNumber, sliceCell, sliceQuery, sliceSize } from '../../core/tensor';
import { useRuns } from '../state/runs';
import { heatStyle } from './colours';
import { useTensorSlice } from './tensors';

interface PanelsProps {
  readonly label: string;
  /** r: the result, a and b: the two tensors whose products are summed. */
  readonly tone: 'r' | 'a' | 'b';
  readonly pin: Pin;
  readonly shape: readonly number[];
  readonly letters: readonly string[];
  readonly fed: readonly (readonly number[])[];
  readonly active: readonly number[] | undefined;
  readonly onChoose?: (index: readonly number[]) => void;
  /** The magnitude that is drawn strongest, for cells coloured by their values. */
  readonly heat?: number | undefined;
}

/** Rows and columns that one panel draws at most: of a large slice, the part around what is marked. */
const mostCells = 16;

/** Scrolls the panels alone: scrollIntoView would move all that is around them too. */
function bringIntoView(panels: HTMLElement): void {
  const cell = panels.querySelector<HTMLElement>('.lit')?.getBoundingClientRect();
  const view = panels.getBoundingClientRect();
  if (!cell) return;
  if (cell.top < view.top) panels.scrollTop -= view.top - cell.top + 24;
  if (cell.bottom > view.bottom) panels.scrollTop += cell.bottom - view.bottom + 8;
}

export const Panels = memo(function Panels({ label, tone, pin, shape, letters, fed, active, onChoose, heat }: PanelsProps) {
  const panels = useMemo(() => panelsOf(shape, letters, fed), [shape, letters, fed]);
  const marked = useMemo(() => new Set(fed.map((index) => flatIndex(shape, index))), [fed, shape]);
  const lit = active ? flatIndex(shape, active) : -1;
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (lit >= 0 && box.current) bringIntoView(box.current);
  }, [lit]);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (!onChoose || !active) return;
    const first = panels[0]?.slice;
    const axes: Readonly<Record<string, readonly [number, number]>> = {
      ArrowLeft: [first?.columns ?? -1, -1],
      ArrowRight: [first?.columns ?? -1, 1],
      ArrowUp: [first?.rows ?? -1, -1],
      ArrowDown: [first?.rows ?? -1, 1],
    };
    const step = axes[event.key];
    const total = shape.reduce((a, b) => a * b, 1);
    if (event.key === '[' || event.key === ']') {
      // All cells in storage order, for those that no arrow reaches: other panels.
      event.preventDefault();
      return onChoose(indexOf(shape, (lit + (event.key === ']' ? 1 : -1) + total) % total));
    }
    if (!step) return;
    event.preventDefault();
    onChoose(
      active.map((value, axis) => (axis === step[0] ? Math.max(0, Math.min((shape[axis] ?? 1) - 1, value + step[1])) : value)),
    );
  };
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: panels scroll, and those of the result take the arrow keys
    <div ref={box} className={`panels tone-${tone}`} role="group" aria-label={label} tabIndex={0} onKeyDown={onKeyDown}>
      {panels.map((panel) => (
        <PanelTable
          key={panel.slice.at.join()}
          panel={panel}
          pin={pin}
          shape={shape}
          marked={marked}
          lit={lit}
          heat={heat}
          {...(onChoose ? { onChoose } : {})}
        />
      ))}
    </div>
  );
});

interface PanelTableProps {
  readonly panel: Panel;
  readonly pin: Pin;
  readonly shape: readonly number[];
  readonly marked: ReadonlySet<number>;
  readonly lit: number;
  readonly heat: number | undefined;
  readonly onChoose?: (index: readonly number[]) => void;
}

/** First row and column to draw so that what is marked is in view. */
function cornerOf({ panel, shape, marked }: PanelTableProps): readonly [number, number] {
  const { rows, columns } = sliceSize(shape, panel.slice);
  if (rows <= mostCells && columns <= mostCells) return [0, 0];
  const cells = [...marked]
    .map((flat) => indexOf(shape, flat))
    .filter((index) =>
      index.every((value, axis) => axis === panel.slice.rows || axis === panel.slice.columns || value === panel.slice.at[axis]),
    );
  const low = (axis: number, size: number): number => {
    if (axis < 0 || cells.length === 0) return 0;
    return Math.max(0, Math.min(size - mostCells, Math.min(...cells.map((index) => index[axis] ?? 0)) - 1));
  };
  return [low(panel.slice.rows, rows), low(panel.slice.columns, columns)];
}

function PanelTable(props: PanelTableProps) {
  const { panel, pin, shape, marked, lit, heat, onChoose } = props;
  const run = useRuns((state) => state.run);
  const whole = isSmall(shape);
  const { tensor } = useTensorSlice(run, pin, whole ? shape.map(() => ':').join(',') : sliceQuery(panel.slice));
  const { rows, columns } = sliceSize(shape, panel.slice);
  const [top, left] = cornerOf(props);
  const span = (size: number, from: number): number[] =>
    Array.from({ length: Math.min(size, mostCells) }, (_, place) => from + place);
  return (
    <figure className="panel">
      {panel.title && <figcaption>{panel.title}</figcaption>}
      <table>
        <tbody>
          {span(rows, top).map((row) => (
            <tr key={row}>
              {span(columns, left).map((column) => {
                const index = cellIndex(panel.slice, row, column);
                const flat = flatIndex(shape, index);
                const text = tensor?.data[whole ? flat : sliceCell(shape, panel.slice, row, column)] ?? '';
                const kind = `${marked.has(flat) ? 'fed' : ''} ${flat === lit ? 'lit' : ''}`;
                return (
                  // biome-ignore lint/a11y/useKeyWithClickEvents: the group of panels has the keys
                  <td
                    key={column}
                    className={kind}
                    style={heat === undefined ? undefined : heatStyle(Number(text), heat)}
                    title={`[${index.join(', ')}] = ${text}`}
                    // A table that opens under a resting pointer must not choose by itself.
                    onPointerMove={
                      onChoose && ((event) => (event.movementX || event.movementY) && flat !== lit && onChoose(index))
                    }
                    onClick={onChoose && (() => onChoose(index))}
                  >
                    {shortNumber(text, 5)}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </figure>
  );
}
