import { Handle, Position } from '@xyflow/react';
import { type Op, type OpPin, takesTypedList } from '../../core/ops';
import { type PageNode, type Pin, samePin } from '../../core/page';
import { typedAt, typedValues } from '../../core/wires';
import type { Refused } from '../api';
import { change, useDocument } from '../state/document';
import { openDialog } from '../state/screen';
import { BlockError } from './Block';
import { ListField } from './ListField';

interface InputRowProps {
  readonly op: Op;
  readonly node: PageNode;
  readonly pin: string;
  readonly row: OpPin;
  readonly error: Refused | undefined;
}

/** A pin for a wire. One of whole numbers can be typed too: the box is there as long as no wire is. */
export function InputRow({ op, node, pin, row, error }: InputRowProps) {
  const to: Pin = [node.id, pin];
  const typed = useDocument((state) => typedAt(state.history.present, to));
  const wired = useDocument((state) => state.history.present.edges.some((edge) => samePin(edge[1], to)));
  const kind = row.variable ? 'variable' : 'tensor';
  const bad = error && error.got !== 'nothing';
  const box = takesTypedList(op, row) && (typed || !wired);
  return (
    <>
      <div className={`pin-row ${bad ? 'bad' : ''}`}>
        <Handle
          type="target"
          position={Position.Left}
          id={pin}
          className={`pin ${kind} ${wired ? 'wired' : ''} ${typed ? 'typed' : ''} ${bad ? 'bad' : ''}`}
        />
        <button
          type="button"
          className="pin-label nodrag"
          title={row.doc}
          onClick={() => openDialog({ kind: 'connect', pin: to, side: 'target' })}
          aria-label={`Input ${pin} of ${node.id}${wired ? ', wired' : ''}: connect from`}
        >
          {pin}
        </button>
        {box && (
          <ListField
            label={`${pin} of ${node.id}`}
            placeholder="wire or type"
            values={typed ? typedValues(typed) : []}
            onChange={(values) => change([{ do: 'type', pin: to, values }], `type:${to.join()}`)}
          />
        )}
      </div>
      {error && <BlockError error={error} />}
    </>
  );
}
