// What is drawn: blocks and wires, where some nodes of the file are not blocks but marks on a wire or boxes at a pin.
import { findOp, inputPin, type OpTable, takesSizes } from './ops';
import type { Edge, Page, PageNode, Pin } from './page';
import { isTensor, samePin } from './page';

export interface Wire {
  readonly from: Pin;
  readonly to: Pin;
  /** The Shape node that the wire's "like" mark stands for. */
  readonly like?: string;
  readonly edges: readonly Edge[];
}

/** Shape nodes without a place that lead one tensor to sizes pins only. */
export function likeNodes(page: Page, table: OpTable): ReadonlyMap<string, Edge> {
  const ops = new Map(page.nodes.map((node) => [node.id, node.op]));
  const likes = new Map<string, Edge>();
  for (const node of page.nodes) {
    if (node.op !== 'Shape' || page.view.at[node.id]) continue;
    const source = page.edges.find(([, to]) => to[0] === node.id);
    const readers = page.edges.filter(([from]) => from[0] === node.id);
    const allSizes = readers.every(([, to]) => {
      const op = findOp(table, ops.get(to[0]) ?? '');
      const pin = op && inputPin(op, to[1]);
      return pin !== undefined && takesSizes(pin);
    });
    const fetched = page.fetch?.some(([id]) => id === node.id);
    if (source && readers.length > 0 && allSizes && !fetched) likes.set(node.id, source);
  }
  return likes;
}

/** The constant typed at a pin, if what feeds the pin is one. */
export function typedAt(page: Page, pin: Pin): PageNode | undefined {
  const wire = page.edges.find(([, to]) => samePin(to, pin));
  if (!wire || !page.view.typed.includes(wire[0][0])) return undefined;
  return page.nodes.find((node) => node.id === wire[0][0]);
}

export function typedValues(node: PageNode): readonly number[] {
  const value = node.attrs?.value;
  return isTensor(value) ? (value.data ?? []).map(Number) : [];
}

export function drawnNodes(page: Page, likes: ReadonlyMap<string, Edge>): PageNode[] {
  const typed = new Set(page.view.typed);
  return page.nodes.filter((node) => !likes.has(node.id) && !typed.has(node.id));
}

export function drawnWires(page: Page, likes: ReadonlyMap<string, Edge>): Wire[] {
  const typed = new Set(page.view.typed);
  const wires: Wire[] = [];
  for (const edge of page.edges) {
    const [from, to] = edge;
    if (likes.has(to[0]) || typed.has(from[0])) continue;
    const source = likes.get(from[0]);
    if (source) wires.push({ from: source[0], to, like: from[0], edges: [edge] });
    else wires.push({ from, to, edges: [edge] });
  }
  return wires;
}
