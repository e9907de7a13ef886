import { automatic, choiceText, type Engine } from '../../core/engines';
import { act } from '../actions';
import { closeDialog, setEngine, useScreen } from '../state/screen';
import { Dialog } from './Dialog';

const cheapest: Engine = { name: automatic, description: 'the cheapest for each block', obstacle: '' };

/** The library's engines; what one cannot do here is said beside it. */
export function EngineDialog() {
  const engines = useScreen((state) => state.about?.engines);
  const run = (): void => {
    closeDialog();
    act('run');
  };
  return (
    <Dialog title="Engine">
      <fieldset className="ticks engines">
        <legend>What computes convolutions and matrix products</legend>
        {[cheapest, ...(engines ?? [])].map((engine) => (
          <EngineRow key={engine.name} engine={engine} />
        ))}
      </fieldset>
      <div className="dialog-foot">
        <span className="quiet">This browser keeps the choice.</span>
        <button type="button" className="button strong" onClick={run}>
          Run
        </button>
      </div>
    </Dialog>
  );
}

function EngineRow({ engine: { name, description, obstacle } }: { engine: Engine }) {
  const chosen = useScreen((state) => state.engine === name);
  const id = `engine-${choiceText(name)}`;
  return (
    <label className="engine" title={obstacle || undefined}>
      <input
        type="radio"
        name="engine"
        aria-labelledby={id}
        aria-describedby={`${id}-text`}
        data-first={chosen ? true : undefined}
        checked={chosen}
        disabled={obstacle !== ''}
        onChange={() => setEngine(name)}
      />
      <b id={id}>{choiceText(name)}</b>
      <span id={`${id}-text`} className="engine-text">
        {description}
        {obstacle && <span className="engine-obstacle">cannot run here: {obstacle}</span>}
      </span>
    </label>
  );
}
