import { type ClipboardEvent, useState } from 'react';
import { NumberBox } from './NumberBox';

interface DimensionBoxesProps {
  readonly letters: string;
  readonly values: readonly number[];
  readonly label: string;
  readonly onChange: (values: readonly number[]) => void;
  readonly onPaste: (event: ClipboardEvent<HTMLInputElement>) => void;
}

export function isSpatial(letter: string): boolean {
  return letter !== 'N' && letter !== 'C';
}

/** One box a spatial dimension. Batch and channels are 1 in all that runs, so their boxes wait behind a button. */
export function DimensionBoxes({ letters, values, label, onChange, onPaste }: DimensionBoxesProps) {
  const [all, setAll] = useState(false);
  const unusual = Array.from(letters).some((letter, place) => !isSpatial(letter) && values[place] !== 1);
  const open = all || unusual;
  return (
    <span className="boxes">
      {Array.from(letters).map((letter, place) =>
        isSpatial(letter) || open ? (
          <label key={letter} className="box">
            <span>{letter}</span>
            <NumberBox
              label={`${label}, ${letter}`}
              value={values[place] ?? 1}
              quiet={!isSpatial(letter)}
              onPaste={onPaste}
              onChange={(value) => onChange(values.map((each, at) => (at === place ? value : each)))}
            />
          </label>
        ) : null,
      )}
      {!open && (
        <button
          type="button"
          className="more nodrag"
          title="Batch and channels too"
          aria-label={`${label}: show batch and channels`}
          onClick={() => setAll(true)}
        >
          {'\u2026'}
        </button>
      )}
    </span>
  );
}
