// A page file as docs/graph-files.md has it, in memory. The library judges pages; here is only what editing needs.

export type Pin = readonly [node: string, pin: string];
export type Edge = readonly [from: Pin, to: Pin];
export type Point = readonly [x: number, y: number];
export type Element = number | boolean | string;

export interface Tensor {
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly data?: readonly Element[];
  readonly npy?: string;
}

export type AttrValue = boolean | number | string | readonly number[] | null | Tensor;
export type Attrs = Readonly<Record<string, AttrValue>>;

export interface PageNode {
  readonly id: string;
  readonly op: string;
  readonly name?: string;
  readonly attrs?: Attrs;
}

export interface Group {
  readonly id: string;
  readonly title: string;
  readonly members: readonly string[];
}

export interface Note {
  readonly id: string;
  readonly at: Point;
  readonly text: string;
}

/** What the studio alone looks at. `typed` are the constants drawn as a box at the pin they feed. */
export interface View {
  readonly studio: 1;
  readonly at: Readonly<Record<string, Point>>;
  readonly groups: readonly Group[];
  readonly notes: readonly Note[];
  readonly typed: readonly string[];
  readonly session?: Point;
}

export interface Page {
  readonly convgrad: 1;
  readonly nodes: readonly PageNode[];
  readonly edges: readonly Edge[];
  readonly fetch?: readonly Pin[];
  readonly view: View;
}

export const emptyView: View = { studio: 1, at: {}, groups: [], notes: [], typed: [] };
export const emptyPage: Page = { convgrad: 1, nodes: [], edges: [], view: emptyView };

export function isTensor(value: AttrValue | undefined): value is Tensor {
  return typeof value === 'object' && value !== null && 'dtype' in value;
}

export function samePin(a: Pin, b: Pin): boolean {
  return a[0] === b[0] && a[1] === b[1];
}

export function sameEdge(a: Edge, b: Edge): boolean {
  return samePin(a[0], b[0]) && samePin(a[1], b[1]);
}

/** `inputs` of `inputs:3`: the pin's name in the op table. */
export function pinName(pin: string): string {
  return pin.replace(/:\d+$/, '');
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isPin(value: unknown): value is Pin {
  return Array.isArray(value) && value.length === 2 && value.every((part) => typeof part === 'string');
}

function isPoint(value: unknown): value is Point {
  return Array.isArray(value) && value.length === 2 && value.every((part) => Number.isFinite(part));
}

function readNode(value: unknown, index: number): PageNode {
  if (!isObject(value) || typeof value.id !== 'string' || typeof value.op !== 'string') {
    throw new Error(`Node ${index} of the page has no id or op.`);
  }
  if (value.attrs !== undefined && !isObject(value.attrs)) throw new Error(`The attributes of ${value.id} are no object.`);
  return value as unknown as PageNode;
}

function readEdge(value: unknown, index: number): Edge {
  if (!Array.isArray(value) || value.length !== 2 || !isPin(value[0]) || !isPin(value[1])) {
    throw new Error(`Wire ${index} of the page is not [[from, pin], [to, pin]].`);
  }
  return value as unknown as Edge;
}

function readGroup(value: unknown): Group[] {
  if (!isObject(value) || typeof value.id !== 'string' || !Array.isArray(value.members)) return [];
  const members = value.members.filter((member) => typeof member === 'string');
  return [{ id: value.id, title: String(value.title ?? ''), members }];
}

function readNote(value: unknown): Note[] {
  if (!isObject(value) || typeof value.id !== 'string' || !isPoint(value.at)) return [];
  return [{ id: value.id, at: value.at, text: String(value.text ?? '') }];
}

/** A view is kept by others and may be anything: what is not understood is left out, never an error. */
export function readView(value: unknown): View {
  if (!isObject(value)) return emptyView;
  const list = (key: string): unknown[] => (Array.isArray(value[key]) ? value[key] : []);
  const at: Record<string, Point> = {};
  if (isObject(value.at)) {
    for (const [id, point] of Object.entries(value.at)) if (isPoint(point)) at[id] = point;
  }
  return {
    studio: 1,
    at,
    groups: list('groups').flatMap(readGroup),
    notes: list('notes').flatMap(readNote),
    typed: list('typed').filter((id) => typeof id === 'string'),
    ...(isPoint(value.session) ? { session: value.session } : {}),
  };
}

/** Throws an Error with a sentence for a person when `value` cannot be edited as a page. */
export function readPage(value: unknown): Page {
  if (!isObject(value)) throw new Error('This is no page: a page is a JSON object.');
  if (value.convgrad !== 1) throw new Error(`This is no page of version 1: "convgrad" is ${JSON.stringify(value.convgrad)}.`);
  const { nodes = [], edges = [], fetch } = value;
  if (!Array.isArray(nodes) || !Array.isArray(edges)) throw new Error('The nodes or edges of the page are no list.');
  if (fetch !== undefined && !(Array.isArray(fetch) && fetch.every(isPin))) {
    throw new Error('The fetch list of the page is not [[node, pin], ...].');
  }
  const page: Page = { convgrad: 1, nodes: nodes.map(readNode), edges: edges.map(readEdge), view: readView(value.view) };
  return fetch === undefined ? page : { ...page, fetch };
}

/** The part of a page that decides what it computes, as requests send it; an empty fetch list means "not chosen yet". */
export function meaning(page: Page): Omit<Page, 'view'> {
  const { view: _view, fetch, ...rest } = page;
  return fetch?.length ? { ...rest, fetch } : rest;
}
