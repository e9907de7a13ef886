import type { ClipboardEvent } from 'react';
import { isSpatial } from './DimensionBoxes';
import { NumberBox } from './NumberBox';

interface PaddingGridProps {
  readonly letters: string;
  readonly values: readonly number[];
  readonly label: string;
  readonly onChange: (values: readonly number[]) => void;
  readonly onPaste: (event: ClipboardEvent<HTMLInputElement>) => void;
}

/** Before and after of every spatial dimension; the list has two numbers a dimension in data_format order. */
export function PaddingGrid({ letters, values, label, onChange, onPaste }: PaddingGridProps) {
  const list = Array.from(letters).flatMap((_, place) => [values[2 * place] ?? 0, values[2 * place + 1] ?? 0]);
  const side = (name: string, offset: number) => (
    <tr>
      <th scope="row">{name}</th>
      {Array.from(letters).map((letter, place) =>
        isSpatial(letter) ? (
          <td key={letter}>
            <NumberBox
              label={`${label}, ${letter} ${name}`}
              value={list[2 * place + offset] ?? 0}
              onPaste={onPaste}
              onChange={(value) => onChange(list.map((each, at) => (at === 2 * place + offset ? value : each)))}
            />
          </td>
        ) : null,
      )}
    </tr>
  );
  return (
    <table className="padding-grid">
      <thead>
        <tr>
          <td />
          {Array.from(letters)
            .filter(isSpatial)
            .map((letter) => (
              <th key={letter} scope="col">
                {letter}
              </th>
            ))}
        </tr>
      </thead>
      <tbody>
        {side('before', 0)}
        {side('after', 1)}
      </tbody>
    </table>
  );
}
