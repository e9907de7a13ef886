// Tensors for display and editing: which elements a slice shows, fills, exact text.
import type { Element } from './page';

export function countOf(shape: readonly number[]): number {
  return shape.reduce((a, b) => a * b, 1);
}

export function shapeText(shape: readonly number[] | null | undefined): string {
  if (!shape) return '?';
  return `[${shape.map((size) => (size < 0 ? '?' : size)).join(',')}]`;
}

export function flatIndex(shape: readonly number[], index: readonly number[]): number {
  return shape.reduce((at, size, axis) => at * size + (index[axis] ?? 0), 0);
}

export function indexOf(shape: readonly number[], flat: number): number[] {
  const index = new Array<number>(shape.length).fill(0);
  let rest = flat;
  for (let axis = shape.length - 1; axis >= 0; axis -= 1) {
    const size = shape[axis] as number;
    index[axis] = rest % size;
    rest = Math.floor(rest / size);
  }
  return index;
}

/** Which axes are rows and columns, and where the others stand. Missing axes (rank 0 and 1) are -1. */
export interface Slice {
  readonly rows: number;
  readonly columns: number;
  readonly at: readonly number[];
}

/** H and W where the letters have them, otherwise the last two axes. */
export function startSlice(shape: readonly number[], letters: readonly string[] = []): Slice {
  const rank = shape.length;
  const high = letters.indexOf('H');
  const wide = letters.indexOf('W');
  const spatial = high >= 0 && wide >= 0;
  return { rows: spatial ? high : rank - 2, columns: spatial ? wide : rank - 1, at: shape.map(() => 0) };
}

export function sliceSize(shape: readonly number[], slice: Slice): { rows: number; columns: number } {
  return { rows: slice.rows >= 0 ? (shape[slice.rows] ?? 1) : 1, columns: slice.columns >= 0 ? (shape[slice.columns] ?? 1) : 1 };
}

export function cellIndex(slice: Slice, row: number, column: number): number[] {
  return slice.at.map((value, axis) => (axis === slice.rows ? row : axis === slice.columns ? column : value));
}

/** The `at=` of a request for this slice, such as `0,0,:,:,1`. */
export function sliceQuery(slice: Slice): string {
  return slice.at.map((value, axis) => (axis === slice.rows || axis === slice.columns ? ':' : value)).join(',');
}

/** The server answers in row-major order; a slice with the row axis behind the column axis is turned for display. */
export function sliceCell(shape: readonly number[], slice: Slice, row: number, column: number): number {
  const { rows, columns } = sliceSize(shape, slice);
  return slice.rows > slice.columns && slice.columns >= 0 ? column * rows + row : row * columns + column;
}

/** All elements as nested lists, which Python, C++ (with braces) and this editor read back exactly. */
export function nestedText(shape: readonly number[], texts: readonly string[]): string {
  const [size, ...rest] = shape;
  if (size === undefined) return texts[0] ?? '';
  const step = countOf(rest);
  const parts = Array.from({ length: size }, (_, place) => nestedText(rest, texts.slice(place * step, (place + 1) * step)));
  return `[${parts.join(', ')}]`;
}

export type Fill =
  | { readonly kind: 'constant'; readonly value: number }
  | { readonly kind: 'range'; readonly from: number; readonly step: number }
  | { readonly kind: 'random'; readonly seed: number; readonly low: number; readonly high: number }
  | { readonly kind: 'one-hot'; readonly at: number };

/** mulberry32: small, well spread, and the same numbers in every browser. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let bits = Math.imul(state ^ (state >>> 15), state | 1);
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
    return ((bits ^ (bits >>> 14)) >>> 0) / 4294967296;
  };
}

export function isWholeType(dtype: string): boolean {
  return /int/.test(dtype);
}

function filler(dtype: string, fill: Fill): (place: number) => number {
  switch (fill.kind) {
    case 'constant':
      return () => fill.value;
    case 'range':
      return (place) => fill.from + place * fill.step;
    case 'one-hot':
      return (place) => (place === fill.at ? 1 : 0);
    case 'random': {
      const random = seededRandom(fill.seed);
      const next = () => fill.low + random() * (fill.high - fill.low);
      return isWholeType(dtype) ? () => Math.floor(next()) : () => Math.round(next() * 1e4) / 1e4;
    }
  }
}

export function fillElements(count: number, dtype: string, fill: Fill): Element[] {
  const next = filler(dtype, fill);
  const numbers = Array.from({ length: count }, (_, place) => next(place));
  return dtype === 'bool' ? numbers.map((value) => value !== 0) : numbers;
}

/** For a read-out: whole numbers as they are; what must be rounded is never taken for a whole number. */
export function shortNumber(text: string, digits = 6): string {
  const value = Number(text);
  if (!Number.isFinite(value) || text.length <= digits + 1 || /^-?\d{1,9}$/.test(text)) return text;
  if (Math.abs(value) < 10 ** digits) return String(Number(value.toPrecision(digits)));
  return value.toExponential(digits - 1).replace(/\.?0+e/, 'e');
}

export function bytesText(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  const units = ['kB', 'MB', 'GB', 'TB'];
  const power = Math.min(units.length, Math.floor(Math.log10(bytes) / 3));
  return `${Number((bytes / 1000 ** power).toPrecision(3))} ${units[power - 1]}`;
}

export function secondsText(seconds: number): string {
  if (seconds >= 1) return `${Number(seconds.toPrecision(3))} s`;
  if (seconds >= 1e-3) return `${Number((seconds * 1e3).toPrecision(3))} ms`;
  return `${Number((seconds * 1e6).toPrecision(3))} us`;
}
