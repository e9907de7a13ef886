import { useState } from 'react';
import { sessionId } from '../../core/commands';
import type { Op } from '../../core/ops';
import { placeBlock } from '../edits';
import { useScreen } from '../state/screen';

interface Entry {
  readonly name: string;
  readonly group: string;
  readonly doc: string;
}

/** ClientSession is no op of the graph: it is how the page draws what a run fetches. */
export const sessionEntry: Entry = {
  name: sessionId,
  group: 'Core',
  doc: 'What a run shows: wire here the outputs that you want.',
};

export function byGroup(entries: readonly Entry[]): Map<string, Entry[]> {
  const groups = new Map<string, Entry[]>();
  for (const entry of entries) groups.set(entry.group, [...(groups.get(entry.group) ?? []), entry]);
  return groups;
}

export function matches(entry: Pick<Op, 'name' | 'group' | 'doc'>, query: string): boolean {
  const text = `${entry.name} ${entry.group} ${entry.doc}`.toLowerCase();
  return query
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

export function Palette() {
  const open = useScreen((state) => state.palette);
  const ops = useScreen((state) => state.table.ops);
  const [query, setQuery] = useState('');
  if (!open) {
    return (
      <button type="button" className="pane-tab left" onClick={() => useScreen.setState({ palette: true })}>
        Blocks
      </button>
    );
  }
  const found = [...ops, sessionEntry].filter((entry) => matches(entry, query));
  return (
    <aside className="pane palette" aria-label="Blocks">
      <div className="pane-head">
        <h2>Blocks</h2>
        <button
          type="button"
          className="icon"
          aria-label="Hide the blocks"
          onClick={() => useScreen.setState({ palette: false })}
        >
          {'\u2039'}
        </button>
      </div>
      <input
        className="field"
        type="search"
        aria-label="Find a block"
        placeholder="Find"
        value={query}
        onChange={(event) => setQuery(event.target.value)}
      />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling list must be reachable by keyboard */}
      <section className="pane-scroll" aria-label="List of blocks" tabIndex={0}>
        {Array.from(byGroup(found), ([group, entries]) => (
          <section key={group}>
            <h3>{group}</h3>
            {entries.map((entry) => (
              <button
                key={entry.name}
                type="button"
                className="palette-item"
                title={entry.doc}
                draggable
                onDragStart={(event) => event.dataTransfer.setData('application/x-convgrad-op', entry.name)}
                onClick={() => placeBlock(entry.name)}
              >
                {entry.name}
              </button>
            ))}
          </section>
        ))}
        {found.length === 0 && <p className="quiet">No block is called that.</p>}
      </section>
    </aside>
  );
}
