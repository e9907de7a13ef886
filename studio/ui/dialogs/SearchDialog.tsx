import { fittingPin, sourceOf } from '../../core/fits';
import { findOp, inputPin, type Op, type OpTable, pinTypes, takesSizes } from '../../core/ops';
import type { Pin, Point } from '../../core/page';
import { act, actions } from '../actions';
import { placeBlock } from '../edits';
import { keyText } from '../keys';
import { matches, sessionEntry } from '../panes/Palette';
import { currentPage } from '../state/document';
import { closeDialog, useScreen } from '../state/screen';
import { knownTypes } from '../state/shapes';
import { Dialog } from './Dialog';
import { type Pick, PickList } from './PickList';

interface LooseWire {
  readonly pin: Pin;
  readonly end: 'source' | 'target';
}

interface SearchDialogProps {
  readonly at: Point | undefined;
  readonly wire: LooseWire | undefined;
}

/** Blocks that the loose end fits; all without one. */
function fitting(table: OpTable, wire: LooseWire | undefined): readonly Op[] {
  if (!wire) return table.ops;
  const page = currentPage();
  if (wire.end === 'source') {
    const source = sourceOf(page, table, knownTypes(), wire.pin);
    return source ? table.ops.filter((op) => fittingPin(op, { source })) : [];
  }
  const op = findOp(table, page.nodes.find((node) => node.id === wire.pin[0])?.op ?? '');
  const pin = op && inputPin(op, wire.pin[1]);
  if (!op || !pin) return [];
  const end = { wanted: pinTypes(op, pin), sizes: takesSizes(pin) };
  return table.ops.filter((each) => fittingPin(each, end));
}

/** Names that begin with what is typed come first. */
function rank(title: string, query: string): number {
  const text = title.toLowerCase();
  const wanted = query.toLowerCase();
  return text === wanted ? 0 : text.startsWith(wanted) ? 1 : text.includes(wanted) ? 2 : 3;
}

export function SearchDialog({ at, wire }: SearchDialogProps) {
  const table = useScreen((state) => state.table);
  const blocks = [...fitting(table, wire), ...(wire ? [] : [sessionEntry])];
  const place = (name: string): void => {
    closeDialog();
    placeBlock(name, at, wire);
  };
  const picks = (query: string): Pick[] => {
    const found = blocks
      .filter((op) => matches(op, query))
      .map((op): Pick => ({ id: op.name, title: op.name, detail: op.doc, run: () => place(op.name) }));
    const commands = wire
      ? []
      : actions
          .filter((action) => action.id !== 'search' && matches({ name: action.title, group: '', doc: '' }, query))
          .map((action): Pick => {
            const hint = action.keys?.[0] ? { hint: keyText(action.keys[0]) } : {};
            const run = (): void => {
              closeDialog();
              act(action.id);
            };
            return { id: `action:${action.id}`, title: action.title, detail: 'command', ...hint, run };
          });
    return [...found, ...commands].sort((a, b) => rank(a.title, query) - rank(b.title, query));
  };
  const title = wire ? `Blocks that fit ${wire.pin[0]}.${wire.pin[1]}` : 'Place a block or run a command';
  return (
    <Dialog title={title}>
      <PickList label="Name of a block or command" picks={picks} none="Nothing fits that." />
    </Dialog>
  );
}
