import { type KeyboardEvent, type PointerEvent, useState } from 'react';
import { Explain } from '../results/Explain';
import { LossChart } from '../results/LossChart';
import { Result } from '../results/Result';
import { type DrawerTab, useScreen } from '../state/screen';
import { Problems } from './Problems';

const tabs: readonly { readonly id: DrawerTab; readonly title: string }[] = [
  { id: 'result', title: 'Result' },
  { id: 'explain', title: 'Explain' },
  { id: 'loss', title: 'Loop' },
  { id: 'problems', title: 'Problems' },
];

const smallest = 140;

export function Drawer() {
  const tab = useScreen((state) => state.drawer);
  const [height, setHeight] = useState(() => Math.round(window.innerHeight * 0.42));
  if (!tab) return null;
  const limit = (value: number): number => Math.max(smallest, Math.min(value, window.innerHeight - 220));
  const drag = (event: PointerEvent): void => {
    if (event.buttons === 1) setHeight(limit(window.innerHeight - event.clientY - 28));
  };
  const keys = (event: KeyboardEvent): void => {
    if (event.key === 'ArrowUp') setHeight(limit(height + 24));
    if (event.key === 'ArrowDown') setHeight(limit(height - 24));
  };
  return (
    <section className="drawer" aria-label="Results" style={{ height }}>
      <div
        className="drawer-edge"
        role="separator"
        aria-orientation="horizontal"
        aria-label="Height of the results"
        aria-valuenow={height}
        aria-valuemin={smallest}
        tabIndex={0}
        onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
        onPointerMove={drag}
        onKeyDown={keys}
      />
      <div className="drawer-head">
        <div role="tablist" aria-label="Results">
          {tabs.map(({ id, title }) => (
            <button
              key={id}
              type="button"
              role="tab"
              aria-selected={tab === id}
              className="tab"
              onClick={() => useScreen.setState({ drawer: id })}
            >
              {title}
            </button>
          ))}
        </div>
        <button
          type="button"
          className="icon"
          aria-label="Close the results"
          onClick={() => useScreen.setState({ drawer: null })}
        >
          {'\u2715'}
        </button>
      </div>
      <div className="drawer-body" role="tabpanel" aria-label={tabs.find((each) => each.id === tab)?.title}>
        {tab === 'result' && <Result />}
        {tab === 'explain' && <Explain />}
        {tab === 'loss' && <LossChart />}
        {tab === 'problems' && <Problems />}
      </div>
    </section>
  );
}
