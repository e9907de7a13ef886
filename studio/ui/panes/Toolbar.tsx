import { useState } from 'react';
import { automatic } from '../../core/engines';
import { act, actions } from '../actions';
import { keyText } from '../keys';
import { isDirty, useDocument } from '../state/document';
import { stopRun, useRuns } from '../state/runs';
import { setTheme, type Theme, useScreen } from '../state/screen';

function hint(id: string): string {
  const action = actions.find((each) => each.id === id);
  const keys = action?.keys?.[0];
  return `${action?.title ?? id}${keys ? ` (${keyText(keys)})` : ''}`;
}

interface ToolProps {
  readonly id: string;
  readonly text: string;
  readonly disabled?: boolean;
  readonly strong?: boolean;
}

function Tool({ id, text, disabled = false, strong = false }: ToolProps) {
  return (
    <button
      type="button"
      className={`button ${strong ? 'strong' : ''}`}
      title={hint(id)}
      disabled={disabled}
      onClick={() => act(id)}
    >
      {text}
    </button>
  );
}

export function Toolbar() {
  const canUndo = useDocument((state) => state.history.past.length > 0);
  const canRedo = useDocument((state) => state.history.future.length > 0);
  const running = useRuns((state) => state.state === 'running');
  const autoRun = useScreen((state) => state.autoRun);
  const engine = useScreen((state) => state.engine);
  return (
    <header className="toolbar">
      <FileName />
      <div className="tools" role="toolbar" aria-label="Tools">
        <Tool id="gallery" text="Gallery" />
        <Tool id="open" text="Open" />
        <Tool id="save" text="Save" />
        <span className="gap" />
        <Tool id="undo" text="Undo" disabled={!canUndo} />
        <Tool id="redo" text="Redo" disabled={!canRedo} />
        <span className="gap" />
        <Tool id="search" text="Add block" />
        <Menu
          title="Arrange"
          ids={['layout', 'align-left', 'align-right', 'align-top', 'align-bottom', 'group', 'note', 'session', 'fit']}
        />
        <Menu title="Gradients" ids={['differentiate']} />
        <Menu title="Export" ids={['export', 'share', 'svg', 'png', 'import', 'save-as', 'new']} />
        <span className="gap" />
        {running ? (
          <button type="button" className="button strong" onClick={() => void stopRun()} title={hint('stop')}>
            {'\u25a0'} Stop
          </button>
        ) : (
          <Tool id="run" text={'\u25b6 Run'} strong />
        )}
        <label className="switch" title="Run by itself after every edit">
          <input type="checkbox" checked={autoRun} onChange={() => act('auto')} />
          <span>Auto</span>
        </label>
        <Tool id="loop" text="Loop" />
        <Tool id="engine" text={engine === automatic ? 'Engine' : `Engine: ${engine}`} />
      </div>
      <ThemeChoice />
    </header>
  );
}

function FileName() {
  const file = useDocument((state) => state.file);
  const dirty = useDocument(isDirty);
  return (
    <div className="file-name">
      <span className="brand" aria-hidden="true" />
      <span className="file-text">{file ?? 'Untitled page'}</span>
      {dirty && (
        <span className="unsaved" title="Not saved to a file yet">
          {'\u25cf'} <span>unsaved</span>
        </span>
      )}
    </div>
  );
}

function Menu({ title, ids }: { title: string; ids: readonly string[] }) {
  const [open, setOpen] = useState(false);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Escape and leaving close the menu from any of its items
    <div
      className="menu"
      onBlur={(event) => !event.currentTarget.contains(event.relatedTarget) && setOpen(false)}
      onKeyDown={(event) => event.key === 'Escape' && setOpen(false)}
    >
      <button type="button" className="button" aria-expanded={open} onClick={() => setOpen(!open)}>
        {title} <span aria-hidden="true">{'\u25be'}</span>
      </button>
      {open && (
        <ul className="menu-list">
          {ids.map((id) => {
            const action = actions.find((each) => each.id === id);
            return (
              <li key={id}>
                <button
                  type="button"
                  onClick={() => {
                    setOpen(false);
                    act(id);
                  }}
                >
                  <span>{action?.title}</span>
                  {action?.keys?.[0] && <kbd>{keyText(action.keys[0])}</kbd>}
                </button>
              </li>
            );
          })}
        </ul>
      )}
    </div>
  );
}

function ThemeChoice() {
  const theme = useScreen((state) => state.theme);
  return (
    <select className="field theme" aria-label="Theme" value={theme} onChange={(event) => setTheme(event.target.value as Theme)}>
      <option value="system">System theme</option>
      <option value="dark">Dark</option>
      <option value="light">Light</option>
    </select>
  );
}
