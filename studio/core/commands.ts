// Every change of a page is one of these commands; `applyCommand` is the only way from a page to the next.
import type { AttrValue, Edge, Group, Note, Page, PageNode, Pin, Point, View } from './page';
import { pinName, sameEdge, samePin } from './page';

export type Command =
  | { readonly do: 'add'; readonly node: PageNode; readonly at: Point }
  | { readonly do: 'remove'; readonly ids: readonly string[]; readonly edges?: readonly Edge[] }
  | { readonly do: 'move'; readonly to: Readonly<Record<string, Point>> }
  | { readonly do: 'connect'; readonly from: Pin; readonly to: Pin; readonly like?: boolean }
  | { readonly do: 'set'; readonly node: string; readonly attr: string; readonly value: AttrValue | undefined }
  | { readonly do: 'setAll'; readonly node: string; readonly attrs: Readonly<Record<string, AttrValue | undefined>> }
  | { readonly do: 'type'; readonly pin: Pin; readonly values: readonly number[] }
  | { readonly do: 'rename'; readonly id: string; readonly to: string }
  | { readonly do: 'group'; readonly group: Group }
  | { readonly do: 'note'; readonly note: Note }
  | { readonly do: 'session'; readonly at: Point }
  | { readonly do: 'fetch'; readonly pin: Pin; readonly on: boolean }
  | { readonly do: 'paste'; readonly part: Page; readonly by: Point }
  | { readonly do: 'replace'; readonly page: Page };

export const sessionId = 'ClientSession';

/** `base`, or `base_2`, `base_3`, ...: the first that nothing on the page is called. */
export function freshId(page: Page, base: string, also: ReadonlySet<string> = new Set()): string {
  const taken = new Set([
    sessionId,
    ...page.nodes.map((node) => node.id),
    ...page.view.groups.map((group) => group.id),
    ...page.view.notes.map((note) => note.id),
    ...also,
  ]);
  if (!taken.has(base)) return base;
  let number = 2;
  while (taken.has(`${base}_${number}`)) number += 1;
  return `${base}_${number}`;
}

function whole(point: Point): Point {
  return [Math.round(point[0]), Math.round(point[1])];
}

function withView(page: Page, view: Partial<View>): Page {
  return { ...page, view: { ...page.view, ...view } };
}

function withFetch(page: Page, fetch: readonly Pin[] | undefined): Page {
  const { fetch: _fetch, ...rest } = page;
  return fetch?.length ? { ...rest, fetch } : rest;
}

/** Pins of a list keep no gaps: after a removal the ones behind move up. */
function closeGaps(edges: readonly Edge[]): readonly Edge[] {
  const seen = new Map<string, string[]>();
  for (const [, [node, pin]] of edges) {
    const name = pinName(pin);
    if (name === pin) continue;
    const key = JSON.stringify([node, name]);
    seen.set(key, [...(seen.get(key) ?? []), pin]);
  }
  if (seen.size === 0) return edges;
  const number = (pin: string): number => Number(pin.slice(pin.lastIndexOf(':') + 1));
  for (const pins of seen.values()) pins.sort((a, b) => number(a) - number(b));
  return edges.map((edge) => {
    const [from, [node, pin]] = edge;
    const pins = seen.get(JSON.stringify([node, pinName(pin)]));
    const place = pins?.indexOf(pin) ?? -1;
    const closed = `${pinName(pin)}:${place}`;
    return place < 0 || closed === pin ? edge : [from, [node, closed]];
  });
}

function without<T>(record: Readonly<Record<string, T>>, ids: ReadonlySet<string>): Record<string, T> {
  return Object.fromEntries(Object.entries(record).filter(([id]) => !ids.has(id)));
}

/** Nodes that only fed what is gone: constants typed at a pin and the Shape nodes of "like" wires. */
function orphans(before: Page, edges: readonly Edge[], isLike: (id: string) => boolean): string[] {
  const feeds = new Set(edges.map(([from]) => from[0]));
  const fed = new Set(before.edges.map(([from]) => from[0]));
  return before.nodes
    .filter((node) => fed.has(node.id) && !feeds.has(node.id))
    .filter((node) => before.view.typed.includes(node.id) || isLike(node.id))
    .map((node) => node.id);
}

function dropNodes(page: Page, gone: ReadonlySet<string>): Page {
  const { view } = page;
  const groups = view.groups
    .map((group) => ({ ...group, members: group.members.filter((id) => !gone.has(id)) }))
    .filter((group) => group.members.length > 0 && !gone.has(group.id));
  const rest: Page = {
    ...page,
    nodes: page.nodes.filter((node) => !gone.has(node.id)),
    edges: closeGaps(page.edges.filter(([from, to]) => !gone.has(from[0]) && !gone.has(to[0]))),
    view: {
      ...view,
      at: without(view.at, gone),
      groups,
      notes: view.notes.filter((note) => !gone.has(note.id)),
      typed: view.typed.filter((id) => !gone.has(id)),
    },
  };
  return withFetch(
    rest,
    page.fetch?.filter(([node]) => !gone.has(node)),
  );
}

function remove(page: Page, ids: readonly string[], edges: readonly Edge[]): Page {
  const gone = new Set(ids);
  const kept = page.edges.filter((edge) => !edges.some((each) => sameEdge(each, edge)));
  const left = kept.filter(([from, to]) => !gone.has(from[0]) && !gone.has(to[0]));
  const likes = new Set(page.nodes.filter((node) => node.op === 'Shape' && !page.view.at[node.id]).map((node) => node.id));
  for (const id of orphans(page, left, (id) => likes.has(id))) gone.add(id);
  let next = dropNodes({ ...page, edges: closeGaps(kept) }, gone);
  if (gone.has(sessionId) && !page.nodes.some((node) => node.id === sessionId)) {
    const { session: _session, ...view } = next.view;
    next = withFetch({ ...next, view }, undefined);
  }
  return next;
}

function connect(page: Page, from: Pin, to: Pin, like: boolean): Page {
  const cleared = remove(
    page,
    [],
    page.edges.filter(([, each]) => samePin(each, to)),
  );
  if (!like) return { ...cleared, edges: [...cleared.edges, [from, to]] };
  // A Shape node that stands on no place of the canvas is drawn as a mark on the wire.
  const id = freshId(cleared, `${from[0]}_shape`);
  return {
    ...cleared,
    nodes: [...cleared.nodes, { id, op: 'Shape' }],
    edges: [...cleared.edges, [from, [id, 'input']], [[id, 'output'], to]],
  };
}

function setAttrs(page: Page, id: string, change: Readonly<Record<string, AttrValue | undefined>>): Page {
  const nodes = page.nodes.map((node) => {
    if (node.id !== id) return node;
    const merged = Object.entries({ ...node.attrs, ...change });
    const attrs = Object.fromEntries(merged.filter((entry): entry is [string, AttrValue] => entry[1] !== undefined));
    const { attrs: _attrs, ...rest } = node;
    return Object.keys(attrs).length ? { ...rest, attrs } : rest;
  });
  return { ...page, nodes };
}

/** A list typed at a pin is a Const of the file; typing again changes it, typing nothing removes it. */
function typeAt(page: Page, pin: Pin, values: readonly number[]): Page {
  const wire = page.edges.find(([, to]) => samePin(to, pin));
  const feeder = wire && page.view.typed.includes(wire[0][0]) ? wire[0][0] : undefined;
  if (values.length === 0) return wire && feeder ? remove(page, [feeder], [wire]) : page;
  const value = { dtype: 'int32', shape: [values.length], data: values };
  if (feeder) return setAttrs(page, feeder, { value });
  const id = freshId(page, `${pin[0]}_${pin[1]}`);
  const added: Page = { ...page, nodes: [...page.nodes, { id, op: 'Const', attrs: { value } }] };
  const typed = withView(added, { typed: [...page.view.typed, id] });
  return connect(typed, [id, 'output'], pin, false);
}

function renamed(page: Page, names: ReadonlyMap<string, string>): Page {
  const name = (id: string): string => names.get(id) ?? id;
  const pin = ([node, each]: Pin): Pin => [name(node), each];
  const { view } = page;
  const at = Object.fromEntries(Object.entries(view.at).map(([id, point]) => [name(id), point]));
  const groups = view.groups.map((group) => ({ ...group, id: name(group.id), members: group.members.map(name) }));
  const next: Page = {
    ...page,
    nodes: page.nodes.map((node) => ({ ...node, id: name(node.id) })),
    edges: page.edges.map(([from, to]): Edge => [pin(from), pin(to)]),
    view: { ...view, at, groups, notes: view.notes.map((note) => ({ ...note, id: name(note.id) })), typed: view.typed.map(name) },
  };
  return page.fetch ? { ...next, fetch: page.fetch.map(pin) } : next;
}

function paste(page: Page, part: Page, by: Point): Page {
  const names = new Map<string, string>();
  const taken = new Set<string>();
  const all = [...part.nodes, ...part.view.groups, ...part.view.notes];
  for (const { id } of all) {
    const fresh = freshId(page, id, taken);
    taken.add(fresh);
    names.set(id, fresh);
  }
  const added = renamed(part, names);
  const shift = (point: Point): Point => whole([point[0] + by[0], point[1] + by[1]]);
  const at = Object.fromEntries(Object.entries(added.view.at).map(([id, point]) => [id, shift(point)]));
  return {
    ...page,
    nodes: [...page.nodes, ...added.nodes],
    edges: [...page.edges, ...added.edges],
    view: {
      ...page.view,
      at: { ...page.view.at, ...at },
      groups: [...page.view.groups, ...added.view.groups],
      notes: [...page.view.notes, ...added.view.notes.map((note) => ({ ...note, at: shift(note.at) }))],
      typed: [...page.view.typed, ...added.view.typed],
    },
  };
}

function move(page: Page, to: Readonly<Record<string, Point>>): Page {
  const { view } = page;
  const nodeIds = new Set(page.nodes.map((node) => node.id));
  const moved = Object.entries(to).filter(([id]) => nodeIds.has(id));
  const session = !nodeIds.has(sessionId) && to[sessionId] && view.session ? whole(to[sessionId]) : view.session;
  return withView(page, {
    at: { ...view.at, ...Object.fromEntries(moved.map(([id, point]) => [id, whole(point)])) },
    notes: view.notes.map((note) => (to[note.id] ? { ...note, at: whole(to[note.id] as Point) } : note)),
    ...(session ? { session } : {}),
  });
}

function put<T extends { readonly id: string }>(list: readonly T[], item: T): readonly T[] {
  return list.some((each) => each.id === item.id) ? list.map((each) => (each.id === item.id ? item : each)) : [...list, item];
}

function fetchPin(page: Page, pin: Pin, on: boolean): Page {
  const others = page.fetch?.filter((each) => !samePin(each, pin)) ?? [];
  return withFetch(page, on ? [...others, pin] : others);
}

export function applyCommand(page: Page, command: Command): Page {
  switch (command.do) {
    case 'add': {
      const at = { ...page.view.at, [command.node.id]: whole(command.at) };
      return withView({ ...page, nodes: [...page.nodes, command.node] }, { at });
    }
    case 'remove':
      return remove(page, command.ids, command.edges ?? []);
    case 'move':
      return move(page, command.to);
    case 'connect':
      return connect(page, command.from, command.to, command.like ?? false);
    case 'set':
      return setAttrs(page, command.node, { [command.attr]: command.value });
    case 'setAll':
      return setAttrs(page, command.node, command.attrs);
    case 'type':
      return typeAt(page, command.pin, command.values);
    case 'rename': {
      const id = freshId(page, command.to);
      return command.to && id === command.to ? renamed(page, new Map([[command.id, command.to]])) : page;
    }
    case 'group':
      return withView(page, { groups: put(page.view.groups, command.group) });
    case 'note':
      return withView(page, { notes: put(page.view.notes, { ...command.note, at: whole(command.note.at) }) });
    case 'session':
      return withView(page, { session: whole(command.at) });
    case 'fetch':
      return fetchPin(page, command.pin, command.on);
    case 'paste':
      return paste(page, command.part, command.by);
    case 'replace':
      return command.page;
  }
}
