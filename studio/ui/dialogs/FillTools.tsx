import { useState } from 'react';
import type { Fill } from '../../core/tensor';

const kinds = ['range', 'constant', 'random', 'one-hot'] as const;
type Kind = (typeof kinds)[number];

const fields: Readonly<Record<Kind, readonly (readonly [name: string, start: string])[]>> = {
  range: [
    ['from', '1'],
    ['step', '1'],
  ],
  constant: [['value', '1']],
  random: [
    ['seed', '1'],
    ['low', '-1'],
    ['high', '1'],
  ],
  'one-hot': [['at', '0']],
};

function fillOf(kind: Kind, numbers: readonly number[]): Fill {
  const [first = 0, second = 0, third = 0] = numbers;
  switch (kind) {
    case 'range':
      return { kind, from: first, step: second };
    case 'constant':
      return { kind, value: first };
    case 'random':
      return { kind, seed: first, low: second, high: third };
    case 'one-hot':
      return { kind, at: first };
  }
}

export function FillTools({ onFill }: { onFill: (fill: Fill) => void }) {
  const [kind, setKind] = useState<Kind>('range');
  const [texts, setTexts] = useState<Readonly<Record<string, string>>>({});
  const row = fields[kind];
  const numbers = row.map(([name, start]) => Number(texts[`${kind}.${name}`] ?? start));
  return (
    <fieldset className="fill">
      <legend>Fill</legend>
      <select className="field" aria-label="Kind of fill" value={kind} onChange={(event) => setKind(event.target.value as Kind)}>
        {kinds.map((each) => (
          <option key={each}>{each}</option>
        ))}
      </select>
      {row.map(([name, start]) => (
        <label key={name} className="fill-number">
          <span>{name}</span>
          <input
            className="field number"
            value={texts[`${kind}.${name}`] ?? start}
            onChange={(event) => setTexts({ ...texts, [`${kind}.${name}`]: event.target.value })}
          />
        </label>
      ))}
      <button
        type="button"
        className="button"
        disabled={!numbers.every(Number.isFinite)}
        onClick={() => onFill(fillOf(kind, numbers))}
      >
        Fill
      </button>
    </fieldset>
  );
}
