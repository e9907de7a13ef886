import { bytesText, secondsText, shortNumber } from '../../core/tensor';
import { sentence } from '../api';
import { useRuns } from '../state/runs';
import { show } from '../state/screen';
import { reveal } from './stage';

/** The grey read-out at the foot of a block: first values, time and memory. A click opens the result. */
export function Readout({ id, outputs }: { id: string; outputs: readonly string[] }) {
  const event = useRuns((state) => state.nodes.get(id));
  if (!event) return null;
  if (!event.ok) {
    return (
      <div className="pin-error">
        <span aria-hidden="true">{'\u26a0'}</span> {event.error ? sentence(event.error) : 'not computed'}
      </div>
    );
  }
  return (
    <footer className="readout">
      {event.outputs
        .filter((output) => outputs.includes(output.pin))
        .map((output) => {
          const count = output.shape.reduce((a, b) => a * b, 1);
          const head = output.head.slice(0, 4).map((text) => shortNumber(text));
          return (
            <button
              key={output.pin}
              type="button"
              className="readout-values nodrag"
              aria-label={`Result ${output.pin} of ${id}: ${head.join(' ')}`}
              onClick={() => {
                show([id, output.pin]);
                reveal(id);
              }}
            >
              <span className="pin result" aria-hidden="true" />
              <span>
                {head.join('  ')}
                {count > head.length ? ' \u2026' : ''}
              </span>
            </button>
          );
        })}
      <span className="readout-cost">
        {event.reused ? 'kept' : secondsText(event.seconds)}
        {' \u00b7 '}
        {bytesText(event.bytes)}
        {event.engine && ` \u00b7 ${event.engine}`}
      </span>
    </footer>
  );
}
