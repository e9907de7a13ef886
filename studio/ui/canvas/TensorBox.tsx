import type { Tensor } from '../../core/page';
import { shapeText } from '../../core/tensor';
import { openDialog } from '../state/screen';

function preview(value: Tensor): string {
  if (value.npy) return value.npy;
  const head = (value.data ?? []).slice(0, 6).join(' ');
  return (value.data?.length ?? 0) > 6 ? `${head} \u2026` : head;
}

/** The elements of a constant in short; a click opens the editor. */
export function TensorBox({ node, attr, value }: { node: string; attr: string; value: Tensor | undefined }) {
  return (
    <button
      type="button"
      className="tensor-box nodrag"
      aria-label={`Edit ${attr} of ${node}`}
      onClick={() => openDialog({ kind: 'tensor', node, attr })}
    >
      {value ? (
        <>
          <span className="tensor-kind">
            {value.dtype} {shapeText(value.shape)}
          </span>
          <span className="tensor-head">{preview(value)}</span>
        </>
      ) : (
        'no value'
      )}
    </button>
  );
}
