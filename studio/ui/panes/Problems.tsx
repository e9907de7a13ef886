import { sentence } from '../api';
import { focusBlock, zoomToFit } from '../canvas/stage';
import { applyFix } from '../edits';
import { select } from '../state/screen';
import { useShapes } from '../state/shapes';

export function Problems() {
  const errors = useShapes((state) => state.errors);
  const general = useShapes((state) => state.general);
  if (errors.size + general.length === 0) return <p className="quiet padded">Nothing to mend: all wires fit.</p>;
  return (
    <ul className="problems">
      {[...general, ...errors.values()].map((error) => (
        <li key={`${error.node}${error.message}`}>
          {error.node && (
            <button
              type="button"
              className="link"
              onClick={() => {
                select([error.node ?? '']);
                zoomToFit([error.node ?? '']);
                focusBlock(error.node ?? '');
              }}
            >
              {error.node}
            </button>
          )}
          <span>{sentence(error)}</span>
          {error.fix && (
            <button type="button" className="fix" onClick={() => applyFix(error.fix?.commands ?? [])}>
              {error.fix.text}
            </button>
          )}
        </li>
      ))}
    </ul>
  );
}
