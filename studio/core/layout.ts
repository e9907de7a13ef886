// Places for blocks: reading order from left to right. Layout never runs unless asked or when a page has no places.
import dagre from '@dagrejs/dagre';
import { sessionId } from './commands';
import type { Page, Point } from './page';
import type { Wire } from './wires';

export interface Size {
  readonly width: number;
  readonly height: number;
}

export type Sizes = ReadonlyMap<string, Size>;
export const grid = 12;

function snap(value: number): number {
  return Math.round(value / grid) * grid;
}

/** New top-left corners of the given blocks, the corner of the first staying where it was. */
export function arrange(
  ids: readonly string[],
  wires: readonly Wire[],
  sizes: Sizes,
  corner: Point = [48, 48],
): Record<string, Point> {
  const graph = new dagre.graphlib.Graph();
  graph.setGraph({ rankdir: 'LR', nodesep: 32, ranksep: 148, ranker: 'network-simplex' });
  graph.setDefaultEdgeLabel(() => ({}));
  const among = new Set(ids);
  for (const id of ids) graph.setNode(id, { ...(sizes.get(id) ?? { width: 260, height: 160 }) });
  for (const { from, to } of wires) {
    if (among.has(from[0]) && among.has(to[0])) graph.setEdge(from[0], to[0]);
  }
  dagre.layout(graph);
  const boxes = ids.map((id) => ({ id, box: graph.node(id) }));
  const left = Math.min(...boxes.map(({ box }) => (box.x ?? 0) - (box.width ?? 0) / 2));
  const top = Math.min(...boxes.map(({ box }) => (box.y ?? 0) - (box.height ?? 0) / 2));
  return Object.fromEntries(
    boxes.map(({ id, box }) => {
      const x = (box.x ?? 0) - (box.width ?? 0) / 2 - left + corner[0];
      const y = (box.y ?? 0) - (box.height ?? 0) / 2 - top + corner[1];
      return [id, [snap(x), snap(y)] as const];
    }),
  );
}

export type Side = 'left' | 'right' | 'top' | 'bottom' | 'middle' | 'centre';

export function align(
  ids: readonly string[],
  side: Side,
  at: Readonly<Record<string, Point>>,
  sizes: Sizes,
): Record<string, Point> {
  const boxes = ids.flatMap((id) => {
    const point = at[id];
    const size = sizes.get(id) ?? { width: 260, height: 160 };
    return point ? [{ id, x: point[0], y: point[1], ...size }] : [];
  });
  if (boxes.length === 0) return {};
  const left = Math.min(...boxes.map((box) => box.x));
  const right = Math.max(...boxes.map((box) => box.x + box.width));
  const top = Math.min(...boxes.map((box) => box.y));
  const bottom = Math.max(...boxes.map((box) => box.y + box.height));
  const place = (box: (typeof boxes)[number]): Point => {
    switch (side) {
      case 'left':
        return [left, box.y];
      case 'right':
        return [right - box.width, box.y];
      case 'top':
        return [box.x, top];
      case 'bottom':
        return [box.x, bottom - box.height];
      case 'centre':
        return [(left + right - box.width) / 2, box.y];
      case 'middle':
        return [box.x, (top + bottom - box.height) / 2];
    }
  };
  return Object.fromEntries(boxes.map((box) => [box.id, place(box)]));
}

/** Where a new block stands free of the others: the wanted point, or below what covers it. */
export function freePlace(page: Page, sizes: Sizes, wanted: Point): Point {
  let [x, y] = [snap(wanted[0]), snap(wanted[1])];
  const boxes = Object.entries({ ...page.view.at, ...(page.view.session ? { [sessionId]: page.view.session } : {}) });
  for (let tries = 0; tries < boxes.length; tries += 1) {
    const hit = boxes.find(([id, at]) => {
      const size = sizes.get(id) ?? { width: 260, height: 160 };
      return Math.abs(at[0] - x) < size.width && y < at[1] + size.height && y + 120 > at[1];
    });
    if (!hit) break;
    y = snap(hit[1][1] + (sizes.get(hit[0])?.height ?? 160) + 2 * grid);
  }
  x = Math.max(x, 0);
  return [x, y];
}
