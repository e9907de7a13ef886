import { useState } from 'react';
import { parseIntegers } from '../../core/typed';

interface ListFieldProps {
  readonly label: string;
  readonly values: readonly number[];
  readonly placeholder?: string;
  readonly onChange: (values: readonly number[]) => void;
}

/** Whole numbers as one text. What cannot be read yet stays as typed and changes nothing. */
export function ListField({ label, values, placeholder, onChange }: ListFieldProps) {
  const text = values.join(', ');
  const [draft, setDraft] = useState<{ text: string; of: string }>();
  const parsed = draft ? parseIntegers(draft.text) : undefined;
  // A draft stands as long as it says what the page says; undo and other editors win over it.
  const stands = draft && (draft.of === text || (parsed?.ok && parsed.value.join(', ') === text));
  const shown = stands ? draft.text : text;
  const wrong = stands && parsed && !parsed.ok;
  return (
    <input
      className="field list nodrag"
      aria-label={label}
      aria-invalid={wrong ? true : undefined}
      title={wrong && parsed && !parsed.ok ? parsed.reason : undefined}
      placeholder={placeholder}
      value={shown}
      spellCheck={false}
      onBlur={() => setDraft(undefined)}
      onChange={(event) => {
        const next = parseIntegers(event.target.value);
        setDraft({ text: event.target.value, of: next.ok ? next.value.join(', ') : text });
        if (next.ok) onChange(next.value);
      }}
    />
  );
}
