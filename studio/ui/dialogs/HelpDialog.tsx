import { editableAttrs, findOp, pinTypes } from '../../core/ops';
import { openScene } from '../files';
import { say, useScreen } from '../state/screen';
import { Dialog } from './Dialog';

export function HelpDialog({ op: name }: { op: string }) {
  const op = useScreen((state) => findOp(state.table, name));
  if (!op) return null;
  const attrs = editableAttrs(op);
  const { scene } = op;
  return (
    <Dialog title={op.name} wide>
      <div className="help">
        <p>{op.doc}</p>
        {op.formula && <p className="formula">{op.formula}</p>}
        {op.inputs.length > 0 && <h3>Inputs</h3>}
        <dl>
          {op.inputs.map((pin) => (
            <div key={pin.name}>
              <dt>{pin.name}</dt>
              <dd>
                {pin.doc} <span className="quiet">{pin.variable ? 'a variable' : pinTypes(op, pin).join(', ')}</span>
              </dd>
            </div>
          ))}
        </dl>
        {attrs.length > 0 && <h3>Typed</h3>}
        <dl>
          {attrs.map((attr) => (
            <div key={attr.name}>
              <dt>{attr.name}</dt>
              <dd>
                {attr.doc}{' '}
                <span className="quiet">
                  {attr.choices ? attr.choices.join(', ') : attr.kind}
                  {attr.default !== undefined && `; ${JSON.stringify(attr.default)} when nothing is set`}
                </span>
              </dd>
            </div>
          ))}
        </dl>
        <h3>Outputs</h3>
        <dl>
          {op.outputs.map((pin) => (
            <div key={pin.name}>
              <dt>{pin.name}</dt>
              <dd>{pin.doc}</dd>
            </div>
          ))}
        </dl>
        {scene && (
          <button
            type="button"
            className="button"
            onClick={() => openScene(scene).catch((error: Error) => say(error.message, true))}
          >
            Open its scene
          </button>
        )}
      </div>
    </Dialog>
  );
}
