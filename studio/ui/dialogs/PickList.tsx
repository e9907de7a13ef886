import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react';

export interface Pick {
  readonly id: string;
  readonly title: string;
  readonly detail: string;
  readonly hint?: string;
  readonly run: () => void;
}

interface PickListProps {
  readonly label: string;
  readonly picks: (query: string) => readonly Pick[];
  readonly none: string;
}

/** A field and a list under it: type to narrow, arrows to choose, Enter to take. */
export function PickList({ label, picks, none }: PickListProps) {
  const [query, setQuery] = useState('');
  const [at, setAt] = useState(0);
  const listId = useId();
  const list = useRef<HTMLDivElement>(null);
  const found = picks(query);
  const chosen = Math.min(at, found.length - 1);
  useEffect(() => {
    list.current?.children[chosen]?.scrollIntoView({ block: 'nearest' });
  }, [chosen]);
  const onKeyDown = (event: KeyboardEvent): void => {
    const steps: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 };
    const step = steps[event.key];
    if (step !== undefined) {
      event.preventDefault();
      setAt(Math.max(0, Math.min(found.length - 1, chosen + step)));
    } else if (event.key === 'Enter') {
      event.preventDefault();
      found[chosen]?.run();
    }
  };
  return (
    <div className="pick">
      <input
        className="field pick-field"
        role="combobox"
        aria-label={label}
        aria-expanded="true"
        aria-controls={listId}
        aria-activedescendant={found.length ? `${listId}-${chosen}` : undefined}
        placeholder={label}
        data-first
        value={query}
        onChange={(event) => {
          setQuery(event.target.value);
          setAt(0);
        }}
        onKeyDown={onKeyDown}
      />
      <div className="pick-list" role="listbox" id={listId} aria-label={label} ref={list} tabIndex={-1}>
        {found.map((pick, place) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the field above
          <div
            key={pick.id}
            id={`${listId}-${place}`}
            role="option"
            tabIndex={-1}
            aria-selected={place === chosen}
            className="pick-item"
            onClick={pick.run}
            onPointerMove={() => setAt(place)}
          >
            <span className="pick-title">{pick.title}</span>
            <span className="pick-detail">{pick.detail}</span>
            {pick.hint && <kbd>{pick.hint}</kbd>}
          </div>
        ))}
      </div>
      {found.length === 0 && <p className="quiet">{none}</p>}
    </div>
  );
}
