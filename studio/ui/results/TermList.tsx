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
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.children[at]?.scrollIntoView({ block: 'nearest' });
  }, [at]);
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step === 0) return;
    event.preventDefault();
    onAt(Math.max(0, Math.min(terms.length - 1, at + step)));
  };
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
      <div
        className="terms"
        role="listbox"
        aria-label="Products"
        tabIndex={0}
        ref={list}
        onKeyDown={onKeyDown}
        aria-activedescendant={`term-${at}`}
      >
        {terms.map((term, place) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the list has the keys
          <div
            key={`${term.a.index.join()};${term.b.index.join()}`}
            id={`term-${place}`}
            role="option"
            tabIndex={-1}
            aria-selected={place === at}
            className="term"
            onPointerEnter={() => !playing && onAt(place)}
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
        ))}
      </div>
      {terms.length < total && (
        <p className="quiet">
          The first {terms.length} of {total} products are listed; the sum is of all.
        </p>
      )}
    </>
  );
}
