import { Handle, type NodeProps, Position } from '@xyflow/react';
import { Fragment, memo, useState } from 'react';
import { useShallow } from 'zustand/react/shallow';
import { inputPins, pinKey } from '../../core/fits';
import { findOp, type Op, shownAttrs } from '../../core/ops';
import { type PageNode, pinName } from '../../core/page';
import { type Refused, sentence } from '../api';
import { applyFix } from '../edits';
import { currentPage, useDocument } from '../state/document';
import { openDialog, useScreen } from '../state/screen';
import { useShapes } from '../state/shapes';
import { AttrRow } from './AttrRow';
import { InputRow } from './InputRow';
import { NameField } from './NameField';
import { Readout } from './Readout';

export const Block = memo(function Block({ id, selected }: NodeProps) {
  const node = useDocument((state) => state.history.present.nodes.find((each) => each.id === id));
  const table = useScreen((state) => state.table);
  const error = useShapes((state) => state.errors.get(id));
  const op = node && findOp(table, node.op);
  if (!node) return null;
  if (!op) return <UnknownBlock node={node} error={error} />;
  return <KnownBlock op={op} node={node} error={error} selected={selected} />;
});

function UnknownBlock({ node, error }: { node: PageNode; error: Refused | undefined }) {
  return (
    <article className="block wrong">
      <header>
        <h3>{node.op}</h3>
      </header>
      <BlockError error={error ?? { message: `There is no op ${node.op}.` }} />
    </article>
  );
}

interface KnownBlockProps {
  readonly op: Op;
  readonly node: PageNode;
  readonly error: Refused | undefined;
  readonly selected: boolean;
}

function KnownBlock({ op, node, error, selected }: KnownBlockProps) {
  // Wires into this block: rows depend on them, and their list is the same list until one changes.
  const wires = useDocument(useShallow((state) => state.history.present.edges.filter(([, to]) => to[0] === node.id)));
  const { own, more } = shownAttrs(op, node);
  const changed = more.some((attr) => node.attrs?.[attr.name] !== undefined);
  const at = error?.argument ? pinName(error.argument) : undefined;
  const [opened, setOpened] = useState<boolean>();
  const open = opened ?? (changed || more.some((attr) => attr.name === at));
  const rows = inputPins({ ...currentPage(), edges: wires }, op, node.id);
  const named =
    rows.some(({ row }) => row.name === at) ||
    own.some((attr) => attr.name === at) ||
    (open && more.some((attr) => attr.name === at));
  const unfinished = error?.got === 'nothing';
  return (
    <article className={`block ${selected ? 'selected' : ''} ${error ? (unfinished ? 'unfinished' : 'wrong') : ''}`}>
      <header>
        <h3>
          <BrokenName name={op.name} />
        </h3>
        <button
          type="button"
          className="block-help nodrag"
          onClick={() => openDialog({ kind: 'help', op: op.name })}
          aria-label={`Help on ${op.name}`}
        >
          ?
        </button>
        <NameField id={node.id} />
      </header>
      {rows.map(({ pin, row }) => (
        <InputRow key={pin} op={op} node={node} pin={pin} row={row} error={at === row.name ? error : undefined} />
      ))}
      {own.map((attr) => (
        <AttrRow key={attr.name} op={op} node={node} attr={attr} error={at === attr.name ? error : undefined} />
      ))}
      {more.length > 0 && (
        <div className="pin-row">
          <span className="pin literal" aria-hidden="true" />
          <button type="button" className="attrs-fold nodrag" aria-expanded={open} onClick={() => setOpened(!open)}>
            attrs <span aria-hidden="true">{open ? '\u25be' : '\u25b8'}</span>
          </button>
        </div>
      )}
      {open &&
        more.map((attr) => (
          <AttrRow key={attr.name} op={op} node={node} attr={attr} error={at === attr.name ? error : undefined} />
        ))}
      {op.outputs.map((pin) => (
        <div key={pin.name} className="pin-row output">
          <button
            type="button"
            className="pin-label nodrag"
            title={pin.doc}
            onClick={() => openDialog({ kind: 'connect', pin: [node.id, pin.name], side: 'source' })}
            aria-label={`Output ${pin.name} of ${node.id}: connect to`}
          >
            <OutputShape id={node.id} pin={pin.name} />
            {pin.name}
          </button>
          <Handle type="source" position={Position.Right} id={pin.name} className={`pin out ${pin.variable ? 'variable' : ''}`} />
        </div>
      ))}
      {error && !named && <BlockError error={error} />}
      <Readout id={node.id} outputs={op.outputs.map((pin) => pin.name)} />
    </article>
  );
}

/** A long name breaks between its words, as on the old block. */
function BrokenName({ name }: { name: string }) {
  const words = name.split(/(?=[A-Z][a-z])/);
  return words.map((word, place) => (
    <Fragment key={words.slice(0, place + 1).join('')}>
      {word}
      <wbr />
    </Fragment>
  ));
}

function OutputShape({ id, pin }: { id: string; pin: string }) {
  const output = useShapes((state) => state.outputs.get(pinKey([id, pin])));
  return output ? <span className="output-shape">{output.dtype}</span> : null;
}

export function BlockError({ error }: { error: Refused }) {
  const unfinished = error.got === 'nothing';
  return (
    <div className={`pin-error ${unfinished ? 'calm' : ''}`}>
      <span aria-hidden="true">{unfinished ? '\u25cb' : '\u26a0'}</span> {unfinished ? `wants ${error.wanted}` : sentence(error)}
      {error.fix && (
        <button type="button" className="fix nodrag" onClick={() => applyFix(error.fix?.commands ?? [])}>
          {error.fix.text}
        </button>
      )}
    </div>
  );
}
