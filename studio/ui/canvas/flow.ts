// From a page to what React Flow draws. Blocks look up their own contents: a node here is a place and a kind.
import type { Edge as FlowEdge, Node as FlowNode } from '@xyflow/react';
import { sessionId } from '../../core/commands';
import type { OpTable } from '../../core/ops';
import type { Page, Point } from '../../core/page';
import { drawnNodes, drawnWires, likeNodes, type Wire } from '../../core/wires';

export type WireEdge = FlowEdge<{ wire?: Wire }>;

function place(id: string, type: string, at: Point, label: string): FlowNode {
  return { id, type, position: { x: at[0], y: at[1] }, data: {}, ariaLabel: label };
}

export function flowNodes(page: Page, table: OpTable): FlowNode[] {
  const likes = likeNodes(page, table);
  const blocks = drawnNodes(page, likes).map((node) =>
    place(node.id, 'block', page.view.at[node.id] ?? [0, 0], `${node.op} block ${node.id}`),
  );
  const notes = page.view.notes.map((note) => place(note.id, 'note', note.at, `Comment ${note.text}`));
  const session = page.view.session ? [place(sessionId, 'session', page.view.session, 'ClientSession block')] : [];
  return [...blocks, ...notes, ...session];
}

export function flowEdges(page: Page, table: OpTable): WireEdge[] {
  const likes = likeNodes(page, table);
  const wires = drawnWires(page, likes).map((wire): WireEdge => {
    const { from, to } = wire;
    return {
      id: JSON.stringify([from, to]),
      type: 'wire',
      source: from[0],
      sourceHandle: from[1],
      target: to[0],
      targetHandle: to[1],
      data: { wire },
      ariaLabel: `Wire from ${from[0]} ${from[1]} to ${to[0]} ${to[1]}${wire.like ? ' as sizes' : ''}`,
    };
  });
  if (!page.view.session) return wires;
  const fetches = (page.fetch ?? []).map(
    (pin, place): WireEdge => ({
      id: JSON.stringify([pin, 'fetch']),
      type: 'wire',
      source: pin[0],
      sourceHandle: pin[1],
      target: sessionId,
      targetHandle: `fetch_outputs:${place}`,
      data: {},
      ariaLabel: `Wire from ${pin[0]} ${pin[1]} to ClientSession`,
    }),
  );
  return [...wires, ...fetches];
}

/** Keeps what React Flow itself has put on nodes (sizes, choice) where the page has the same node still. */
export function mergeNodes(drawn: readonly FlowNode[], before: readonly FlowNode[], selected: readonly string[]): FlowNode[] {
  const old = new Map(before.map((node) => [node.id, node]));
  const chosen = new Set(selected);
  return drawn.map((node) => {
    const known = old.get(node.id);
    const isSelected = chosen.has(node.id);
    if (!known) return { ...node, selected: isSelected };
    const same =
      known.position.x === node.position.x &&
      known.position.y === node.position.y &&
      known.type === node.type &&
      known.ariaLabel === node.ariaLabel &&
      (known.selected ?? false) === isSelected;
    return same ? known : { ...known, ...node, selected: isSelected };
  });
}
