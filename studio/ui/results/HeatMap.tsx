import { useEffect, useRef, useState } from 'react';
import { shortNumber } from '../../core/tensor';
import { heatColour } from './colours';
import type { Cell } from './GridView';

interface HeatMapProps {
  readonly rows: number;
  readonly columns: number;
  readonly text: (row: number, column: number) => string;
  readonly most: number;
  readonly active: Cell;
  readonly onActive: (cell: Cell) => void;
}

/** One pixel a cell, drawn large. The number under the pointer is written beside it: colour alone says too little. */
export function HeatMap({ rows, columns, text, most, active, onActive }: HeatMapProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [over, setOver] = useState<Cell>();
  useEffect(() => {
    const context = canvas.current?.getContext('2d');
    if (!context || rows * columns === 0) return;
    const image = context.createImageData(columns, rows);
    for (let row = 0; row < rows; row += 1) {
      for (let column = 0; column < columns; column += 1) {
        const [red, green, blue] = heatColour(Number(text(row, column)), most);
        image.data.set([red, green, blue, 255], 4 * (row * columns + column));
      }
    }
    context.putImageData(image, 0, 0);
  }, [rows, columns, text, most]);
  const cellAt = (x: number, y: number): Cell => {
    const box = canvas.current?.getBoundingClientRect();
    if (!box) return active;
    const clamp = (value: number, size: number): number => Math.max(0, Math.min(size - 1, Math.floor(value * size)));
    return { row: clamp((y - box.top) / box.height, rows), column: clamp((x - box.left) / box.width, columns) };
  };
  const shown = over ?? active;
  const scale = Math.max(1, Math.min(48, Math.floor(480 / columns), Math.floor(230 / rows)));
  return (
    <div className="heat">
      <canvas
        ref={canvas}
        width={columns}
        height={rows}
        style={{ width: columns * scale, height: rows * scale }}
        role="img"
        aria-label={`Heat map of ${rows} by ${columns} values`}
        onPointerMove={(event) => setOver(cellAt(event.clientX, event.clientY))}
        onPointerLeave={() => setOver(undefined)}
        onClick={(event) => onActive(cellAt(event.clientX, event.clientY))}
      />
      <div className="heat-legend">
        <span>{shortNumber(String(-most))}</span>
        <span className="heat-scale" aria-hidden="true" />
        <span>{shortNumber(String(most))}</span>
        <span className="heat-value">
          row {shown.row}, column {shown.column}: <b>{text(shown.row, shown.column)}</b>
        </span>
      </div>
    </div>
  );
}
