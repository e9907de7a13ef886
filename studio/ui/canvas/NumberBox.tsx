import { type ClipboardEvent, useState } from 'react';

interface NumberBoxProps {
  readonly label: string;
  readonly value: number;
  readonly whole?: boolean;
  readonly quiet?: boolean;
  readonly onChange: (value: number) => void;
  readonly onPaste?: (event: ClipboardEvent<HTMLInputElement>) => void;
}

export function NumberBox({ label, value, whole = true, quiet = false, onChange, onPaste }: NumberBoxProps) {
  const [draft, setDraft] = useState<{ text: string; of: number }>();
  const shown = draft && draft.of === value ? draft.text : String(value);
  const wrong = !isNumber(shown, whole);
  return (
    <input
      className={`field number nodrag ${quiet ? 'quiet' : ''}`}
      inputMode="numeric"
      aria-label={label}
      aria-invalid={wrong ? true : undefined}
      value={shown}
      onFocus={(event) => event.target.select()}
      onBlur={() => setDraft(undefined)}
      onPaste={onPaste}
      onChange={(event) => {
        const text = event.target.value;
        const next = isNumber(text, whole) ? Number(text) : value;
        setDraft({ text, of: next });
        if (next !== value) onChange(next);
      }}
    />
  );
}

function isNumber(text: string, whole: boolean): boolean {
  return text.trim() !== '' && (whole ? /^[+-]?\d{1,9}$/.test(text.trim()) : Number.isFinite(Number(text)));
}
