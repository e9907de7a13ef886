import { actions } from '../actions';
import { keyText } from '../keys';
import { Dialog } from './Dialog';

const gestures = [
  ['Tab', 'from block to block and through the fields of a block'],
  ['Arrow keys', 'move the chosen block; in tables, from cell to cell'],
  ['Enter on a pin', 'list of pins that it can be wired to'],
  ['Delete', 'remove what is chosen'],
  ['Drag from a pin', 'a wire; dropped on the canvas, the blocks that fit'],
  ['Shift drag', 'choose several blocks'],
  ['Wheel', 'zoom; drag the canvas to move it'],
] as const;

export function KeysDialog() {
  return (
    <Dialog title="Keys and gestures" wide>
      <dl className="keys">
        {actions
          .filter((action) => action.keys)
          .map((action) => (
            <div key={action.id}>
              <dt>
                <kbd>{keyText(action.keys?.[0] ?? '')}</kbd>
              </dt>
              <dd>{action.title}</dd>
            </div>
          ))}
        {gestures.map(([keys, text]) => (
          <div key={keys}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
