// A tensor of any rank as small tables side by side: one a place of the axes that are neither rows nor columns.
import { countOf, flatIndex, type Slice, startSlice } from './tensor';

export interface Panel {
  readonly slice: Slice;
  readonly title: string;
}

const mostElements = 2048;
const mostPanels = 24;

/** True when the whole tensor is worth drawing and fetching at once. */
export function isSmall(shape: readonly number[]): boolean {
  return countOf(shape) <= mostElements;
}

function titleOf(slice: Slice, letters: readonly string[], shape: readonly number[]): string {
  return slice.at
    .flatMap((value, axis) => {
      if (axis === slice.rows || axis === slice.columns || (shape[axis] ?? 1) === 1) return [];
      const letter = letters[axis] ?? '';
      return [/^\d+$/.test(letter) ? `${letter}:${value}` : `${letter}${value}`];
    })
    .join(' ');
}

/** All panels of a small tensor; of a large one those that hold one of the `wanted` cells. */
export function panelsOf(shape: readonly number[], letters: readonly string[], wanted: readonly (readonly number[])[]): Panel[] {
  const start = startSlice(shape, letters);
  const fixed = shape.map((size, axis) => (axis === start.rows || axis === start.columns ? 1 : size));
  const places = new Map<number, readonly number[]>();
  const add = (index: readonly number[]): void => {
    const at = index.map((value, axis) => (axis === start.rows || axis === start.columns ? 0 : value));
    places.set(flatIndex(fixed, at), at);
  };
  if (isSmall(shape)) {
    for (let flat = 0; flat < countOf(fixed); flat += 1) {
      let rest = flat;
      const at = fixed.map(() => 0);
      for (let axis = fixed.length - 1; axis >= 0; axis -= 1) {
        at[axis] = rest % (fixed[axis] ?? 1);
        rest = Math.floor(rest / (fixed[axis] ?? 1));
      }
      add(at);
    }
  } else for (const index of wanted) add(index);
  return [...places.entries()]
    .sort(([a], [b]) => a - b)
    .slice(0, isSmall(shape) ? places.size : mostPanels)
    .map(([, at]) => {
      const slice = { ...start, at };
      return { slice, title: titleOf(slice, letters, shape) };
    });
}
