import { useState } from 'react';
import { enginesOf } from '../../core/engines';
import { pinKey } from '../../core/fits';
import { editableAttrs, findOp, type Op } from '../../core/ops';
import { meaning, type PageNode } from '../../core/page';
import { bytesText, secondsText, shapeText } from '../../core/tensor';
import { attrText, parseAttrText } from '../../core/typed';
import { api, type Plan } from '../api';
import { AttrRow } from '../canvas/AttrRow';
import { BlockError } from '../canvas/Block';
import { NameField } from '../canvas/NameField';
import { change, currentPage, useDocument } from '../state/document';
import { useRuns } from '../state/runs';
import { openDialog, show, useScreen } from '../state/screen';
import { useShapes } from '../state/shapes';

export function Inspector() {
  const open = useScreen((state) => state.inspector);
  if (!open) {
    return (
      <button type="button" className="pane-tab right" onClick={() => useScreen.setState({ inspector: true })}>
        Inspector
      </button>
    );
  }
  return (
    <aside className="pane inspector" aria-label="Inspector">
      <div className="pane-head">
        <h2>Inspector</h2>
        <button
          type="button"
          className="icon"
          aria-label="Hide the inspector"
          onClick={() => useScreen.setState({ inspector: false })}
        >
          {'\u203a'}
        </button>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard */}
      <section className="pane-scroll" aria-label="Details" tabIndex={0}>
        <Details />
      </section>
    </aside>
  );
}

function Details() {
  const selected = useScreen((state) => state.selected);
  const table = useScreen((state) => state.table);
  const node = useDocument((state) => state.history.present.nodes.find((each) => each.id === selected[0]));
  if (selected.length > 1) return <p className="quiet">{selected.length} blocks are chosen.</p>;
  if (!node) return <PageSummary />;
  const op = findOp(table, node.op);
  if (!op) return <p className="quiet">There is no op {node.op}.</p>;
  return <BlockDetails node={node} op={op} />;
}

function PageSummary() {
  const about = useScreen((state) => state.about);
  const page = useDocument((state) => state.history.present);
  const done = useRuns((state) => state.done);
  const nodes = useRuns((state) => state.nodes);
  const engines = enginesOf(nodes.values());
  return (
    <dl className="facts">
      <dt>Blocks</dt>
      <dd>{page.nodes.length}</dd>
      <dt>Wires</dt>
      <dd>{page.edges.length}</dd>
      {done && (
        <>
          <dt>Last run</dt>
          <dd>{done.cancelled ? 'stopped' : secondsText(done.seconds)}</dd>
          <dt>Memory</dt>
          <dd>{bytesText(done.peak_bytes)}</dd>
          {engines.length > 0 && (
            <>
              <dt>Engine</dt>
              <dd>{engines.join(', ')}</dd>
            </>
          )}
        </>
      )}
      <dt>convgrad</dt>
      <dd>{about?.version}</dd>
      <dt>Machine</dt>
      <dd>{about?.cpu}</dd>
    </dl>
  );
}

function BlockDetails({ node, op }: { node: PageNode; op: Op }) {
  const engine = useScreen((state) => state.engine);
  const error = useShapes((state) => state.errors.get(node.id));
  return (
    <>
      <h3 className="block-title">{op.name}</h3>
      <p className="quiet">{op.doc}</p>
      <label className="stacked">
        <span>Name</span>
        <NameField id={node.id} />
      </label>
      {error && <BlockError error={error} />}
      {editableAttrs(op).map((attr) => (
        <AttrRow key={attr.name} op={op} node={node} attr={attr} />
      ))}
      <AttrTextField op={op} node={node} />
      <Outputs node={node} op={op} />
      <HowItRuns key={`${node.id} ${engine}`} node={node} op={op} engine={engine} />
      <button type="button" className="button" onClick={() => openDialog({ kind: 'help', op: op.name })}>
        Help
      </button>
    </>
  );
}

/** Which engine and kernel the planner takes for a convolution, and why. */
function HowItRuns({ node, op, engine }: { node: PageNode; op: Op; engine: string }) {
  const [plan, setPlan] = useState<Plan | string>();
  if (!/Conv/.test(op.name)) return null;
  const ask = (): void => {
    api.plan(meaning(currentPage()), node.id, engine).then(setPlan, (error: Error) => setPlan(error.message));
  };
  return (
    <>
      <button type="button" className="button" onClick={ask}>
        How does it run?
      </button>
      {typeof plan === 'string' && <p className="pin-error">{plan}</p>}
      {typeof plan === 'object' && (
        <dl className="facts">
          <dt>Engine</dt>
          <dd>{plan.engine}</dd>
          <dt>Kernel</dt>
          <dd>{plan.kernel}</dd>
          <dt>Expected</dt>
          <dd>{secondsText(plan.cost_us / 1e6)}</dd>
          <dt>Workspace</dt>
          <dd>{bytesText(plan.workspace_bytes)}</dd>
          <dt>Why</dt>
          <dd>{plan.why}</dd>
        </dl>
      )}
    </>
  );
}

/** The attributes as one text, the way enuSpace and C++ write them. */
function AttrTextField({ op, node }: { op: Op; node: PageNode }) {
  const writable = Object.fromEntries(
    Object.entries(node.attrs ?? {}).filter(([name]) =>
      editableAttrs(op).some((attr) => attr.name === name && attr.kind !== 'tensor'),
    ),
  );
  const text = attrText(writable);
  const [draft, setDraft] = useState<string>();
  const parsed = draft === undefined ? undefined : parseAttrText(op, draft);
  if (editableAttrs(op).every((attr) => attr.kind === 'tensor')) return null;
  return (
    <label className="stacked">
      <span>As text</span>
      <textarea
        className="field"
        rows={3}
        spellCheck={false}
        value={draft ?? text}
        aria-invalid={parsed && !parsed.ok ? true : undefined}
        onBlur={() => setDraft(undefined)}
        onChange={(event) => {
          setDraft(event.target.value);
          const next = parseAttrText(op, event.target.value);
          if (next.ok) change([{ do: 'setAll', node: node.id, attrs: next.value }], `text:${node.id}`);
        }}
      />
      {parsed && !parsed.ok && <span className="pin-error">{parsed.reason}</span>}
    </label>
  );
}

function Outputs({ node, op }: { node: PageNode; op: Op }) {
  const outputs = useShapes((state) => state.outputs);
  const event = useRuns((state) => state.nodes.get(node.id));
  return (
    <dl className="facts">
      {op.outputs.map((pin) => {
        const output = outputs.get(pinKey([node.id, pin.name]));
        return (
          <div key={pin.name} className="fact">
            <dt>{pin.name}</dt>
            <dd>
              {output ? `${output.dtype} ${shapeText(output.shape)}` : 'not known yet'}
              {event?.ok && (
                <button type="button" className="link" onClick={() => show([node.id, pin.name])}>
                  show
                </button>
              )}
            </dd>
          </div>
        );
      })}
      {event?.ok && (
        <div className="fact">
          <dt>Time</dt>
          <dd>
            {event.reused ? 'kept from an earlier run' : secondsText(event.seconds)}, {bytesText(event.bytes)}
            {event.engine && `, by ${event.engine}`}
          </dd>
        </div>
      )}
    </dl>
  );
}
