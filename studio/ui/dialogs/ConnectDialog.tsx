import { sessionId } from '../../core/commands';
import { sourcesOf, type Target, targetsOf } from '../../core/fits';
import { findOp } from '../../core/ops';
import { type Pin, samePin } from '../../core/page';
import { drawnNodes, likeNodes } from '../../core/wires';
import { connectPins } from '../edits';
import { change, currentPage } from '../state/document';
import { closeDialog, openDialog, useScreen } from '../state/screen';
import { knownTypes } from '../state/shapes';
import { Dialog } from './Dialog';
import { type Pick, PickList } from './PickList';

interface ConnectDialogProps {
  readonly pin: Pin;
  readonly side: 'source' | 'target';
}

function detail(target: Target, side: 'source' | 'target'): string {
  if (target.fit === 'like') return 'by its sizes';
  return side === 'source' && target.wired ? 'replaces its wire' : '';
}

/** Everything that the pin can be wired to, as a list: the keyboard's way to draw a wire. */
export function ConnectDialog({ pin, side }: ConnectDialogProps) {
  const table = useScreen((state) => state.table);
  const done = (run: () => void) => (): void => {
    closeDialog();
    run();
  };
  const ends = (): Pick[] => {
    const page = currentPage();
    if (pin[0] === sessionId) {
      const likes = likeNodes(page, table);
      return drawnNodes(page, likes).flatMap((node) =>
        (findOp(table, node.op)?.outputs ?? []).map((output): Pick => {
          const from: Pin = [node.id, output.name];
          return { id: from.join(), title: from.join(' . '), detail: node.op, run: done(() => connectPins(from, pin)) };
        }),
      );
    }
    const list = side === 'source' ? targetsOf(page, table, knownTypes(), pin) : sourcesOf(page, table, knownTypes(), pin);
    const picks = list.map((target): Pick => {
      const run = done(() => (side === 'source' ? connectPins(pin, target.pin) : connectPins(target.pin, pin)));
      return { id: target.pin.join(), title: target.pin.join(' . '), detail: detail(target, side), run };
    });
    if (side === 'source' && page.view.session) {
      picks.push({
        id: 'fetch',
        title: 'ClientSession . fetch_outputs',
        detail: 'a run shows it',
        run: done(() => connectPins(pin, [sessionId, 'fetch'])),
      });
    }
    const edges = page.edges.filter(([from, to]) => samePin(side === 'source' ? from : to, pin));
    if (edges.length) {
      picks.push({
        id: 'cut',
        title: 'Remove the wire',
        detail: '',
        run: done(() => change([{ do: 'remove', ids: [], edges }])),
      });
    }
    picks.push({
      id: 'new',
      title: 'A new block',
      detail: 'that fits',
      run: () => openDialog({ kind: 'search', wire: { pin, end: side } }),
    });
    return picks;
  };
  const picks = (query: string): Pick[] => ends().filter((pick) => pick.title.toLowerCase().includes(query.toLowerCase()));
  return (
    <Dialog title={side === 'source' ? `Connect ${pin.join('.')} to` : `Connect ${pin.join('.')} from`}>
      <PickList label="Pin to connect" picks={picks} none="No pin fits." />
    </Dialog>
  );
}
