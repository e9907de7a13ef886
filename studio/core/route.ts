// Where a right-angled wire turns: of a few places the one where it runs behind the fewest blocks.
import type { Point } from './page';

export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

const stub = 26;
const clearance = 4;

function crossesRow(box: Box, y: number, from: number, to: number): boolean {
  return (
    y > box.y - clearance &&
    y < box.y + box.height + clearance &&
    box.x < Math.max(from, to) &&
    box.x + box.width > Math.min(from, to)
  );
}

function crossesColumn(box: Box, x: number, from: number, to: number): boolean {
  return (
    x > box.x - clearance &&
    x < box.x + box.width + clearance &&
    box.y < Math.max(from, to) &&
    box.y + box.height > Math.min(from, to)
  );
}

/** Nothing when the wire runs backwards: it then goes around its blocks by itself. */
export function turnOf(from: Point, to: Point, boxes: Iterable<Box>): number | undefined {
  if (to[0] - from[0] < 2 * stub) return undefined;
  const middle = (from[0] + to[0]) / 2;
  const candidates = [Math.min(from[0] + stub, middle), Math.max(to[0] - stub, middle), middle];
  const hits = candidates.map(() => 0);
  for (const box of boxes) {
    for (const [place, x] of candidates.entries()) {
      // The wire starts and ends at the edge of a block, which is no crossing.
      const crosses =
        crossesRow(box, from[1], from[0] + 2, x) || crossesColumn(box, x, from[1], to[1]) || crossesRow(box, to[1], x, to[0] - 2);
      if (crosses) hits[place] = (hits[place] ?? 0) + 1;
    }
  }
  const fewest = Math.min(...hits);
  return candidates[hits.indexOf(fewest)];
}
