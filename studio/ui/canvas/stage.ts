// The canvas as seen from outside of it: where its middle is, how large blocks are drawn, zooming. One canvas a page.
import type { ReactFlowInstance } from '@xyflow/react';
import type { Size, Sizes } from '../../core/layout';
import type { Point } from '../../core/page';

let instance: ReactFlowInstance | undefined;

export function setStage(flow: ReactFlowInstance): void {
  instance = flow;
}

export function drawnSizes(): Sizes {
  const sizes = new Map<string, Size>();
  for (const { id, measured } of instance?.getNodes() ?? []) {
    if (measured?.width && measured.height) sizes.set(id, { width: measured.width, height: measured.height });
  }
  return sizes;
}

export function toCanvas(screen: Point): Point {
  const point = instance?.screenToFlowPosition({ x: screen[0], y: screen[1] });
  return point ? [point.x, point.y] : screen;
}

/** The middle of what is visible, a little up and left so that a block put there is in the middle. */
export function middle(): Point {
  const box = document.querySelector('.canvas')?.getBoundingClientRect();
  return box ? toCanvas([box.left + box.width / 2 - 130, box.top + box.height / 2 - 110]) : [0, 0];
}

export function zoomToFit(ids?: readonly string[]): void {
  const still = window.matchMedia('(prefers-reduced-motion: reduce)').matches;
  const options = { padding: 0.05, maxZoom: 1.1, duration: still ? 0 : 200 };
  void instance?.fitView(ids ? { ...options, nodes: ids.map((id) => ({ id })) } : options);
}

export function zoomBy(factor: number): void {
  void instance?.zoomTo((instance.getZoom() ?? 1) * factor);
}

/** Moves the view, no more than needed, so that a block is not behind the results. */
export function reveal(id: string): void {
  requestAnimationFrame(() => {
    const block = document.querySelector(`.react-flow__node[data-id="${CSS.escape(id)}"]`)?.getBoundingClientRect();
    const canvas = document.querySelector('.canvas')?.getBoundingClientRect();
    const view = instance?.getViewport();
    if (!block || !canvas || !view) return;
    const hidden = block.bottom + 16 - canvas.bottom;
    const up = Math.min(hidden, block.top - canvas.top - 16);
    if (up > 0) void instance?.setViewport({ ...view, y: view.y - up });
  });
}

/** Puts the keyboard on a block, or on a field in it, as soon as it is drawn: a new one is hidden until it is measured. */
export function focusBlock(id: string, field = '', frames = 30): void {
  requestAnimationFrame(() => {
    const target = document.querySelector<HTMLElement>(`.react-flow__node[data-id="${CSS.escape(id)}"] ${field}`);
    target?.focus({ preventScroll: true });
    if (document.activeElement !== target && frames > 0) focusBlock(id, field, frames - 1);
  });
}
