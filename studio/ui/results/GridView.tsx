import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from 'react';

export interface Cell {
  readonly row: number;
  readonly column: number;
}

interface GridViewProps {
  readonly label: string;
  readonly rows: number;
  readonly columns: number;
  readonly active: Cell;
  readonly onActive: (cell: Cell) => void;
  readonly text: (row: number, column: number) => string;
  /** What stands in the active cell instead of its text, such as a field. */
  readonly activeContent?: ReactNode;
  readonly rowLetter?: string;
  readonly columnLetter?: string;
}

const wide = 92;
const high = 26;
const head = 40;

/** Rows and columns of numbers; only what is in view is in the document, so a million cells scroll as well as ten. */
export function GridView(props: GridViewProps) {
  const { label, rows, columns, active, onActive, text, activeContent, rowLetter = '', columnLetter = '' } = props;
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ left: 0, top: 0, width: 600, height: 320 });
  const measure = (): void => {
    const element = box.current;
    if (element)
      setView({ left: element.scrollLeft, top: element.scrollTop, width: element.clientWidth, height: element.clientHeight });
  };
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const watch = new ResizeObserver(() => {
      setView({ left: element.scrollLeft, top: element.scrollTop, width: element.clientWidth, height: element.clientHeight });
    });
    watch.observe(element);
    return () => watch.disconnect();
  }, []);
  const go = (row: number, column: number): void => {
    const next = { row: Math.max(0, Math.min(rows - 1, row)), column: Math.max(0, Math.min(columns - 1, column)) };
    onActive(next);
    const element = box.current;
    if (!element) return;
    const x = next.column * wide;
    const y = next.row * high;
    if (x < element.scrollLeft) element.scrollLeft = x;
    if (x + wide + head > element.scrollLeft + element.clientWidth) element.scrollLeft = x + wide + head - element.clientWidth;
    if (y < element.scrollTop) element.scrollTop = y;
    if (y + 2 * high > element.scrollTop + element.clientHeight) element.scrollTop = y + 2 * high - element.clientHeight;
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const steps: Readonly<Record<string, readonly [number, number]>> = {
      ArrowUp: [-1, 0],
      ArrowDown: [1, 0],
      ArrowLeft: [0, -1],
      ArrowRight: [0, 1],
      Enter: [1, 0],
      PageDown: [10, 0],
      PageUp: [-10, 0],
    };
    const step = steps[event.key];
    if (!step || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    go(active.row + step[0], active.column + step[1]);
  };
  const firstRow = Math.max(0, Math.floor(view.top / high) - 2);
  const lastRow = Math.min(rows, Math.ceil((view.top + view.height) / high) + 2);
  const firstColumn = Math.max(0, Math.floor(view.left / wide) - 1);
  const lastColumn = Math.min(columns, Math.ceil((view.left + view.width) / wide) + 1);
  const span = (from: number, to: number): number[] => Array.from({ length: Math.max(0, to - from) }, (_, place) => from + place);
  return (
    <div
      ref={box}
      className="grid-view"
      role="grid"
      aria-label={label}
      aria-rowcount={rows}
      aria-colcount={columns}
      tabIndex={activeContent ? -1 : 0}
      onScroll={measure}
      onKeyDown={onKeyDown}
    >
      <div className="grid-room" role="presentation" style={{ width: columns * wide + head, height: (rows + 1) * high }}>
        <div className="grid-row head" role="row" style={{ width: columns * wide + head }}>
          {span(firstColumn, lastColumn).map((column) => (
            <span key={column} role="columnheader" className="grid-head" style={{ left: head + column * wide, width: wide }}>
              {columnLetter}
              {column}
            </span>
          ))}
        </div>
        {span(firstRow, lastRow).map((row) => (
          <div
            key={row}
            className="grid-row"
            role="row"
            aria-rowindex={row + 1}
            style={{ top: (row + 1) * high, width: columns * wide + head }}
          >
            <span role="rowheader" className="grid-head row-head" style={{ width: head }}>
              {rowLetter}
              {row}
            </span>
            {span(firstColumn, lastColumn).map((column) => {
              const isActive = active.row === row && active.column === column;
              return (
                // biome-ignore lint/a11y/useKeyWithClickEvents: the grid itself has the keys
                <span
                  key={column}
                  role="gridcell"
                  tabIndex={-1}
                  aria-colindex={column + 1}
                  aria-selected={isActive}
                  className={`grid-cell ${isActive ? 'active' : ''}`}
                  style={{ left: head + column * wide, width: wide }}
                  title={text(row, column)}
                  onClick={() => go(row, column)}
                >
                  {isActive && activeContent ? activeContent : text(row, column)}
                </span>
              );
            })}
          </div>
        ))}
      </div>
    </div>
  );
}
