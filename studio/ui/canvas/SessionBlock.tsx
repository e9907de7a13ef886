import { Handle, type NodeProps, Position } from '@xyflow/react';
import { memo } from 'react';
import { useDocument } from '../state/document';
import { openDialog, show } from '../state/screen';

/** The page's fetch list as the block that enuSpace has for it. Without wires a run shows every output that nobody reads. */
export const SessionBlock = memo(function SessionBlock({ id, selected }: NodeProps) {
  const fetch = useDocument((state) => state.history.present.fetch) ?? [];
  return (
    <article className={`block session ${selected ? 'selected' : ''}`}>
      <header>
        <h3>ClientSession</h3>
      </header>
      {fetch.map((pin, place) => (
        <div key={pin.join()} className="pin-row">
          <Handle type="target" position={Position.Left} id={`fetch_outputs:${place}`} className="pin tensor wired" />
          <button type="button" className="pin-label nodrag" onClick={() => show(pin)} title="Show the result">
            {pin[0]}.{pin[1]}
          </button>
        </div>
      ))}
      <div className="pin-row">
        <Handle type="target" position={Position.Left} id={`fetch_outputs:${fetch.length}`} className="pin tensor" />
        <button
          type="button"
          className="pin-label nodrag"
          onClick={() => openDialog({ kind: 'connect', pin: [id, `fetch_outputs:${fetch.length}`], side: 'target' })}
        >
          fetch_outputs
        </button>
      </div>
    </article>
  );
});
