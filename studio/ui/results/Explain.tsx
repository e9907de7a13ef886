import { useEffect, useMemo, useState } from 'react';
import { axisLetters, findOp, type Op } from '../../core/ops';
import { type PageNode, type Pin, samePin } from '../../core/page';
import { shapeText } from '../../core/tensor';
import { api, type Explanation, type Term } from '../api';
import { useRuns } from '../state/runs';
import { useScreen } from '../state/screen';
import { Panels } from './Panels';
import { TermList } from './TermList';

/** What feeds one cell of a convolution or gradient: the library lists the products, this view draws them. */
export function Explain() {
  const shown = useScreen((state) => state.shown);
  const table = useScreen((state) => state.table);
  const node = useRuns((state) => state.page?.nodes.find((each) => each.id === shown?.[0]));
  const event = useRuns((state) => state.nodes.get(shown?.[0] ?? ''));
  const op = node && findOp(table, node.op);
  const output = event?.outputs.find((each) => each.pin === shown?.[1]);
  if (!shown || !node || !op || !output) {
    return (
      <p className="quiet padded">
        Run the page, open the result of a convolution or gradient block, then choose "Explain this cell".
      </p>
    );
  }
  return <Explained key={`${node.id}${output.shape.join()}`} op={op} node={node} pin={shown} shape={output.shape} />;
}

interface Answer {
  readonly explanation?: Explanation;
  readonly problem?: string;
}

function useExplanation(node: string, index: readonly number[]): Answer {
  const run = useRuns((state) => state.run);
  const [answer, setAnswer] = useState<Answer>({});
  const key = index.join();
  useEffect(() => {
    if (!run) return;
    const asked = new AbortController();
    api.explain(run, node, key === '' ? [] : key.split(',').map(Number), asked.signal).then(
      (explanation) => setAnswer({ explanation }),
      (error: Error) => !asked.signal.aborted && setAnswer({ problem: error.message }),
    );
    return () => asked.abort();
  }, [run, node, key]);
  return answer;
}

/** The tensor that feeds an input pin in this run. */
function useSource(node: string, pin: string | undefined): { readonly pin: Pin; readonly shape: readonly number[] } | undefined {
  const edge = useRuns((state) => state.page?.edges.find(([, to]) => samePin(to, [node, pin ?? ''])));
  const event = useRuns((state) => state.nodes.get(edge?.[0][0] ?? ''));
  const output = event?.outputs.find((each) => each.pin === edge?.[0][1]);
  return useMemo(() => (edge && output ? { pin: edge[0], shape: output.shape } : undefined), [edge, output]);
}

interface ExplainedProps {
  readonly op: Op;
  readonly node: PageNode;
  readonly pin: Pin;
  readonly shape: readonly number[];
}

const noTerms: readonly Term[] = [];

function Explained({ op, node, pin, shape }: ExplainedProps) {
  const chosen = useScreen((state) => state.explained);
  const [index, setIndex] = useState<readonly number[]>(() => (chosen.length === shape.length ? chosen : shape.map(() => 0)));
  const [at, setAt] = useState(0);
  const { explanation, problem } = useExplanation(node.id, index);
  const terms = explanation?.terms ?? noTerms;
  const active = terms[Math.min(at, terms.length - 1)];
  const first = useSource(node.id, terms[0]?.a.pin);
  const second = useSource(node.id, terms[0]?.b.pin);
  const fedA = useMemo(() => terms.map((term) => term.a.index), [terms]);
  const fedB = useMemo(() => terms.map((term) => term.b.index), [terms]);
  const fedResult = useMemo(() => [index], [index]);
  const choose = (cell: readonly number[]): void => {
    setIndex(cell);
    setAt(0);
  };
  return (
    <div className="explain">
      <section className="explain-tensor result-tensor" aria-label="Result">
        <h3>
          <span className="mark mark-r" aria-hidden="true" />
          {pin[0]} <small>{shapeText(shape)}</small>
          {explanation?.engine && <small data-testid="explained-engine">by {explanation.engine}</small>}
        </h3>
        <Panels
          label={`Result of ${pin[0]}: point at a cell or use the arrow keys`}
          tone="r"
          pin={pin}
          shape={shape}
          letters={axisLetters(op, node, pin[1], shape.length)}
          fed={fedResult}
          active={index}
          onChoose={choose}
        />
      </section>
      {[
        { source: first, name: terms[0]?.a.pin, fed: fedA, active: active?.a.index, tone: 'a' as const },
        { source: second, name: terms[0]?.b.pin, fed: fedB, active: active?.b.index, tone: 'b' as const },
      ].map(
        ({ source, name, fed, active: lit, tone }) =>
          source &&
          name && (
            <section key={tone} className="explain-tensor" aria-label={name}>
              <h3>
                <span className={`mark mark-${tone}`} aria-hidden="true" />
                {name} <small>{shapeText(source.shape)}</small>
              </h3>
              <Panels
                label={`${name}: the cells that feed the result are marked`}
                tone={tone}
                pin={source.pin}
                shape={source.shape}
                letters={axisLetters(op, node, name, source.shape.length)}
                fed={fed}
                active={lit}
              />
            </section>
          ),
      )}
      <section className="explain-sum" aria-label="Sum">
        {problem && <p className="pin-error">{problem}</p>}
        {explanation && (
          <TermList
            explanation={explanation}
            name={pin[0]}
            index={index}
            at={Math.min(at, Math.max(0, terms.length - 1))}
            onAt={setAt}
          />
        )}
      </section>
    </div>
  );
}
