interface TextFieldProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly className?: string;
}

/** A field whose every keystroke is a change of the page: undo is the page's own. */
export function TextField({ label, value, onChange, className = '' }: TextFieldProps) {
  return (
    <input
      className={`field nodrag ${className}`}
      aria-label={label}
      value={value}
      spellCheck={false}
      onChange={(event) => onChange(event.target.value)}
    />
  );
}
