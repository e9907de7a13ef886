import { type KeyboardEvent, useEffect, useRef, useState } from 'react';
import type { Explanation, Term } from '../api';

interface TermListProps {
  readonly explanation: Explanation;
  readonly name: string;
  readonly index: readonly number[];
  readonly at: number;
  readonly onAt: (place: number) => void;
}

const inLine = 6;
const pace = 700;
/** Height of a product's row, as the style sheet has it. */
const rowHeight = 28;

function productText(term: Term): string {
  return `${term.a.value} \u00d7 ${term.b.value}`;
}

/** The sum in one line: all products of a short one, the ends of a long one. */
function sumLine(terms: readonly Term[], total: number): string {
  if (terms.length === 0) return '0';
  if (total <= inLine) return terms.map(productText).join(' + ');
  return `${terms.slice(0, 3).map(productText).join(' + ')} + \u2026 (${total} products)`;
}

function usePlaying(at: number, count: number, onAt: (place: number) => void): [boolean, (on: boolean) => void] {
  const [playing, setPlaying] = useState(false);
  useEffect(() => {
    if (!playing) return;
    const timer = setTimeout(() => (at + 1 < count ? onAt(at + 1) : setPlaying(false)), pace);
    return () => clearTimeout(timer);
  }, [playing, at, count, onAt]);
  return [playing, setPlaying];
}

/** The products one by one, in the order in which the library names them. */
export function TermList({ explanation, name, index, at, onAt }: TermListProps) {
  const { terms, total, skipped, formula, sum } = explanation;
  const [playing, setPlaying] = usePlaying(at, terms.length, onAt);
  const play = (): void => {
    if (!playing && at >= terms.length - 1) onAt(0);
    setPlaying(!playing);
  };
  return (
    <>
      <p className="formula">{formula}</p>
      <p className="sum-line">
        <span className="sum-name">
          {name}[{index.join(', ')}]
        </span>{' '}
        = {sumLine(terms, total)} = <b data-testid="explained-sum">{sum}</b>
      </p>
      <div className="sum-tools">
        <button type="button" className="button" onClick={play} disabled={terms.length < 2}>
          {playing ? '\u25a0 Stop' : '\u25b6 Tap by tap'}
        </button>
        <span className="quiet">
          product {terms.length ? at + 1 : 0} of {total}
          {skipped.padding > 0 && `; ${skipped.padding} fall outside, into padding or between strides`}
        </span>
      </div>
      <Terms terms={terms} at={at} onAt={onAt} still={playing} />
      {terms.length < total && (
        <p className="quiet">
          The first {terms.length} of {total} products are listed; the sum is of all.
        </p>
      )}
    </>
  );
}

interface TermsProps {
  readonly terms: readonly Term[];
  readonly at: number;
  readonly onAt: (place: number) => void;
  /** While the products are played, the pointer does not choose. */
  readonly still: boolean;
}

/** Only the rows in view are in the document: there may be thousands, and each hover brings others. */
function Terms({ terms, at, onAt, still }: TermsProps) {
  const list = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const height = list.current?.clientHeight ?? 400;
  useEffect(() => {
    const element = list.current;
    if (!element) return;
    const y = at * rowHeight;
    if (y < element.scrollTop) element.scrollTop = y;
    if (y + rowHeight > element.scrollTop + element.clientHeight) element.scrollTop = y + rowHeight - element.clientHeight;
  }, [at]);
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step === 0) return;
    event.preventDefault();
    onAt(Math.max(0, Math.min(terms.length - 1, at + step)));
  };
  const first = Math.max(0, Math.floor(top / rowHeight) - 4);
  const shown = terms.slice(first, first + Math.ceil(height / rowHeight) + 8);
  const activeShown = at >= first && at < first + shown.length;
  return (
    <div
      className="terms"
      role="listbox"
      aria-label="Products"
      tabIndex={0}
      ref={list}
      onScroll={(event) => setTop(event.currentTarget.scrollTop)}
      onKeyDown={onKeyDown}
      aria-activedescendant={activeShown ? `term-${at}` : undefined}
    >
      <div role="presentation" className="terms-room" style={{ height: terms.length * rowHeight }}>
        {shown.map((term, offset) => {
          const place = first + offset;
          return (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the list has the keys
            <div
              key={place}
              id={`term-${place}`}
              role="option"
              tabIndex={-1}
              aria-selected={place === at}
              aria-posinset={place + 1}
              aria-setsize={terms.length}
              className="term"
              style={{ top: place * rowHeight }}
              onPointerMove={() => !still && place !== at && onAt(place)}
              onClick={() => onAt(place)}
            >
              <span className="term-tap">tap {term.tap.join(',')}</span>
              <span className="term-a" title={`${term.a.pin}[${term.a.index.join(', ')}]`}>
                {term.a.value}
              </span>
              <span aria-hidden="true">{'\u00d7'}</span>
              <span className="term-b" title={`${term.b.pin}[${term.b.index.join(', ')}]`}>
                {term.b.value}
              </span>
              <span aria-hidden="true">=</span>
              <span className="term-product">{term.product}</span>
            </div>
          );
        })}
      </div>
    </div>
  );
}
