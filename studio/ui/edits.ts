// What a person does to the page, put together from commands: each call is one step of undo.
import { type Command, freshId, sessionId } from '../core/commands';
import { fit, fittingPin, sourceOf } from '../core/fits';
import { align, arrange, freePlace, type Side } from '../core/layout';
import { findOp, inputPin, shownAttrs, startAttrs, unlessDefault } from '../core/ops';
import type { Edge, Page, PageNode, Pin, Point } from '../core/page';
import { partOf, readPart } from '../core/part';
import { drawnNodes, drawnWires, likeNodes, type Wire } from '../core/wires';
import type { FixCommand } from './api';
import { drawnSizes, focusBlock, middle, zoomToFit } from './canvas/stage';
import { change, currentPage } from './state/document';
import { say, select, useScreen } from './state/screen';
import { knownTypes } from './state/shapes';

function connectCommand(page: Page, from: Pin, to: Pin): Command {
  if (to[0] === sessionId) return { do: 'fetch', pin: from, on: true };
  const { table } = useScreen.getState();
  const source = sourceOf(page, table, knownTypes(), from);
  const op = findOp(table, page.nodes.find((node) => node.id === to[0])?.op ?? '');
  const pin = op && inputPin(op, to[1]);
  const like = source && op && pin ? fit(source.types, source.variable, op, pin) === 'like' : false;
  return { do: 'connect', from, to, like };
}

export function connectPins(from: Pin, to: Pin): void {
  change([connectCommand(currentPage(), from, to)]);
  say(`${from[0]} is wired to ${to[0]}, ${to[1]}.`);
}

/** Takes a wire off one pin and puts it on another, as one step. */
export function moveWire(edges: readonly Edge[], from: Pin, to: Pin): void {
  change([{ do: 'remove', ids: [], edges }, connectCommand(currentPage(), from, to)]);
}

/** Places a block, wired to the loose end it was asked for, and puts the keyboard on it. */
export function placeBlock(
  name: string,
  at?: Point,
  wire?: { readonly pin: Pin; readonly end: 'source' | 'target' },
): string | undefined {
  const page = currentPage();
  const { table } = useScreen.getState();
  if (name === sessionId) {
    change([{ do: 'session', at: freePlace(page, drawnSizes(), at ?? middle()) }]);
    focusBlock(sessionId);
    return sessionId;
  }
  const op = findOp(table, name);
  if (!op) return undefined;
  const id = freshId(page, op.name);
  const attrs = startAttrs(op);
  const node = Object.keys(attrs).length ? { id, op: op.name, attrs } : { id, op: op.name };
  const add: Command = { do: 'add', node, at: at ?? freePlace(page, drawnSizes(), middle()) };
  change([add, ...wireCommands(page, id, name, wire)]);
  select([id]);
  focusBlock(id);
  say(`Placed ${id}.`);
  return id;
}

function wireCommands(
  page: Page,
  id: string,
  name: string,
  wire?: { readonly pin: Pin; readonly end: 'source' | 'target' },
): Command[] {
  const { table } = useScreen.getState();
  const op = findOp(table, name);
  if (!wire || !op) return [];
  if (wire.end === 'source') {
    const source = sourceOf(page, table, knownTypes(), wire.pin);
    const pin = source && fittingPin(op, { source });
    const row = pin && inputPin(op, pin);
    if (!source || !pin || !row) return [];
    return [{ do: 'connect', from: wire.pin, to: [id, pin], like: fit(source.types, source.variable, op, row) === 'like' }];
  }
  const output = op.outputs[0];
  return output ? [{ do: 'connect', from: [id, output.name], to: wire.pin }] : [];
}

function setCommand(page: Page, [id, attr, value]: NonNullable<FixCommand['set']>): Command {
  const op = findOp(useScreen.getState().table, page.nodes.find((node) => node.id === id)?.op ?? '');
  return { do: 'set', node: id, attr, value: op ? unlessDefault(op, attr, value) : value };
}

export function applyFix(commands: readonly FixCommand[]): void {
  const page = currentPage();
  change(
    commands.flatMap((command): Command[] => {
      if (command.set) return [setCommand(page, command.set)];
      return command.connect ? [connectCommand(page, command.connect[0], command.connect[1])] : [];
    }),
  );
}

function likes(page: Page): ReturnType<typeof likeNodes> {
  return likeNodes(page, useScreen.getState().table);
}

export function copyText(): string | undefined {
  const page = currentPage();
  const { selected } = useScreen.getState();
  const part = partOf(page, selected, likes(page));
  return part.nodes.length + part.view.notes.length > 0 ? JSON.stringify(part, null, 1) : undefined;
}

export function pasteText(text: string): boolean {
  const part = readPart(text);
  if (!part) return false;
  const before = new Set(currentPage().nodes.map((node) => node.id));
  change([{ do: 'paste', part, by: [36, 36] }]);
  const page = currentPage();
  const added = drawnNodes(page, likes(page)).filter((node) => !before.has(node.id));
  const placeless = added.filter((node) => !page.view.at[node.id]);
  if (placeless.length)
    change([
      {
        do: 'move',
        to: placesFor(
          page,
          added.map((node) => node.id),
          middle(),
        ),
      },
    ]);
  select(added.map((node) => node.id));
  say(`Pasted ${added.length} blocks.`);
  return true;
}

export function duplicate(): void {
  const text = copyText();
  if (text) pasteText(text);
}

export function removeSelected(): void {
  const { selected } = useScreen.getState();
  if (selected.length) change([{ do: 'remove', ids: selected }]);
  select([]);
}

export function selectAll(): void {
  const page = currentPage();
  select([...drawnNodes(page, likes(page)).map((node) => node.id), ...page.view.notes.map((note) => note.id)]);
}

/** The wires that layout goes by: those of the graph and those to the session block. */
function allWires(page: Page): Wire[] {
  const fetches = (page.fetch ?? []).map((from): Wire => ({ from, to: [sessionId, 'fetch_outputs'], edges: [] }));
  return [...drawnWires(page, likes(page)), ...fetches];
}

function placesFor(page: Page, ids: readonly string[], corner?: Point): Record<string, Point> {
  return arrange(ids, allWires(page), drawnSizes(), corner);
}

/** Lays out the chosen blocks, or all when fewer than two are chosen. */
export function layout(): void {
  const page = currentPage();
  const { selected } = useScreen.getState();
  const drawn = drawnNodes(page, likes(page)).map((node) => node.id);
  const chosen = drawn.filter((id) => selected.includes(id));
  const ids = chosen.length > 1 ? chosen : drawn;
  if (ids.length === 0) return;
  const all = page.view.session && ids === drawn ? [...ids, sessionId] : ids;
  change([{ do: 'move', to: placesFor(page, all) }]);
  requestAnimationFrame(() => zoomToFit());
}

/** A page from elsewhere has no places: the blocks without get some, and a fetch list gets its block. */
export function withPlaces(page: Page): Page {
  const { view } = page;
  const drawn = drawnNodes(page, likes(page));
  const wantsSession = page.fetch?.length && !view.session;
  const ids = drawn.filter((node) => !view.at[node.id]).map((node) => node.id);
  if (ids.length === 0 && !wantsSession) return page;
  const points = Object.values(view.at);
  const corner: Point = points.length
    ? [Math.min(...points.map((point) => point[0])), Math.max(...points.map((point) => point[1])) + 320]
    : [48, 48];
  const sizes = new Map(drawn.map((node) => [node.id, { width: 256, height: guessHeight(node) }]));
  sizes.set(sessionId, { width: 190, height: 110 });
  const { [sessionId]: session, ...at } = arrange(wantsSession ? [...ids, sessionId] : ids, allWires(page), sizes, corner);
  return { ...page, view: { ...view, at: { ...view.at, ...at }, ...(session ? { session } : {}) } };
}

/** How high a block will be drawn, before it is: its rows, the attributes that stand open, and room for a read-out. */
function guessHeight(node: PageNode): number {
  const op = findOp(useScreen.getState().table, node.op);
  if (!op) return 160;
  const { own, more } = shownAttrs(op, node);
  const open = more.some((attr) => node.attrs?.[attr.name] !== undefined) ? more.length : 0;
  const high =
    own.filter((attr) => attr.kind === 'tensor').length + 2 * own.filter((attr) => attr.name === 'explicit_paddings').length;
  const rows = op.inputs.length + own.length + (more.length ? 1 : 0) + open + op.outputs.length + high;
  return 150 + 28 * rows;
}

export function alignSelected(side: Side): void {
  const page = currentPage();
  const { selected } = useScreen.getState();
  change([{ do: 'move', to: align(selected, side, page.view.at, drawnSizes()) }]);
}

export function groupSelected(): void {
  const page = currentPage();
  const members = useScreen.getState().selected.filter((id) => page.nodes.some((node) => node.id === id));
  if (members.length) change([{ do: 'group', group: { id: freshId(page, 'group'), title: 'Group', members } }]);
}

export function addNote(): void {
  const page = currentPage();
  const id = freshId(page, 'note');
  change([{ do: 'note', note: { id, at: freePlace(page, drawnSizes(), middle()), text: '' } }]);
  select([id]);
  focusBlock(id, 'textarea');
}
