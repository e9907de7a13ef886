import type { Slice } from '../../core/tensor';

interface SlicePickersProps {
  readonly shape: readonly number[];
  readonly letters: readonly string[];
  readonly slice: Slice;
  readonly onChange: (slice: Slice) => void;
}

function axisName(letters: readonly string[], axis: number): string {
  const letter = letters[axis] ?? `${axis}`;
  return /^\d+$/.test(letter) ? `axis ${letter}` : letter;
}

/** Which two axes are rows and columns, and where the others stand. */
export function SlicePickers({ shape, letters, slice, onChange }: SlicePickersProps) {
  if (shape.length < 2) return null;
  const axes = shape.map((_, axis) => axis);
  const pick = (kind: 'rows' | 'columns', axis: number): void => {
    const other = kind === 'rows' ? 'columns' : 'rows';
    const swapped = slice[other] === axis ? { [other]: slice[kind] } : {};
    onChange({ ...slice, ...swapped, [kind]: axis });
  };
  const chooser = (kind: 'rows' | 'columns', name: string) => (
    <label className="slice-axis">
      <span>{name}</span>
      <select className="field" value={slice[kind]} onChange={(event) => pick(kind, Number(event.target.value))}>
        {axes.map((axis) => (
          <option key={axis} value={axis}>
            {axisName(letters, axis)}
          </option>
        ))}
      </select>
    </label>
  );
  return (
    <div className="slices">
      {chooser('rows', 'Rows')}
      {chooser('columns', 'Columns')}
      {axes
        .filter((axis) => axis !== slice.rows && axis !== slice.columns)
        .map((axis) => (
          <label key={axis} className="slice-axis">
            <span>
              {axisName(letters, axis)} = {slice.at[axis]}
            </span>
            <input
              type="range"
              min={0}
              max={Math.max(0, (shape[axis] ?? 1) - 1)}
              disabled={(shape[axis] ?? 1) < 2}
              value={slice.at[axis]}
              onChange={(event) =>
                onChange({ ...slice, at: slice.at.map((each, at) => (at === axis ? Number(event.target.value) : each)) })
              }
            />
          </label>
        ))}
    </div>
  );
}
