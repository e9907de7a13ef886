// Which pins a wire may go to, by element type and kind of pin. What a graph may do beyond that, the library says.
import { findOp, type Op, type OpPin, type OpTable, pinTypes, takesSizes } from './ops';
import type { Page, PageNode, Pin } from './page';
import { samePin } from './page';

/** What inference knows of an output; nothing for one that is not known yet. */
export type KnownTypes = ReadonlyMap<string, string>;

export function pinKey(pin: Pin): string {
  return JSON.stringify(pin);
}

export type Fit = 'wire' | 'like' | undefined;

function outputTypes(op: Op, pin: OpPin, node: PageNode): readonly string[] {
  const set = node.attrs?.[pin.type];
  return typeof set === 'string' ? [set] : pinTypes(op, pin);
}

/** How an output of these types can feed the pin: as it is, by its shape, or not at all. */
export function fit(types: readonly string[], variable: boolean, op: Op, pin: OpPin): Fit {
  if (pin.variable && !variable) return undefined;
  const wanted = pinTypes(op, pin);
  if (types.some((type) => wanted.includes(type))) return types.length > 1 && takesSizes(pin) ? 'like' : 'wire';
  return takesSizes(pin) ? 'like' : undefined;
}

export interface Source {
  readonly types: readonly string[];
  readonly variable: boolean;
}

export function sourceOf(page: Page, table: OpTable, known: KnownTypes, from: Pin): Source | undefined {
  const node = page.nodes.find((each) => each.id === from[0]);
  const op = node && findOp(table, node.op);
  const pin = op?.outputs.find((each) => each.name === from[1]);
  if (!node || !op || !pin) return undefined;
  const type = known.get(pinKey(from));
  return { types: type ? [type] : outputTypes(op, pin, node), variable: pin.variable ?? false };
}

/** Input pins of a node as they are drawn: the pins of a list that are wired and one more. */
export function inputPins(page: Page, op: Op, id: string): { readonly pin: string; readonly row: OpPin }[] {
  return op.inputs.flatMap((row) => {
    if (!row.list) return [{ pin: row.name, row }];
    const wired = page.edges.filter(([, to]) => to[0] === id && to[1].startsWith(`${row.name}:`)).length;
    return Array.from({ length: wired + 1 }, (_, index) => ({ pin: `${row.name}:${index}`, row }));
  });
}

function reaches(page: Page, from: string, to: string): boolean {
  const next = new Map<string, string[]>();
  for (const [a, b] of page.edges) next.set(a[0], [...(next.get(a[0]) ?? []), b[0]]);
  const open = [from];
  const seen = new Set(open);
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (id === to) return true;
    for (const after of next.get(id) ?? []) {
      if (!seen.has(after)) {
        seen.add(after);
        open.push(after);
      }
    }
  }
  return false;
}

export interface Target {
  readonly pin: Pin;
  readonly fit: 'wire' | 'like';
  readonly wired: boolean;
}

/** Pins of other blocks that an output can feed without closing a circle; those without a wire come first. */
export function targetsOf(page: Page, table: OpTable, known: KnownTypes, from: Pin): Target[] {
  const source = sourceOf(page, table, known, from);
  if (!source) return [];
  const targets = page.nodes.flatMap((node): Target[] => {
    const op = findOp(table, node.op);
    if (!op || node.id === from[0] || reaches(page, node.id, from[0])) return [];
    return inputPins(page, op, node.id).flatMap(({ pin, row }): Target[] => {
      const how = fit(source.types, source.variable, op, row);
      const wired = page.edges.some(([, to]) => samePin(to, [node.id, pin]));
      return how ? [{ pin: [node.id, pin], fit: how, wired }] : [];
    });
  });
  return targets.sort((a, b) => Number(a.wired) - Number(b.wired));
}

/** Outputs that can feed an input pin, the other way round. */
export function sourcesOf(page: Page, table: OpTable, known: KnownTypes, to: Pin): Target[] {
  return page.nodes.flatMap((node): Target[] => {
    const op = findOp(table, node.op);
    if (!op || page.view.typed.includes(node.id)) return [];
    return op.outputs.flatMap((output): Target[] => {
      const from: Pin = [node.id, output.name];
      const target = targetsOf(page, table, known, from).find((each) => samePin(each.pin, to));
      return target ? [{ pin: from, fit: target.fit, wired: page.edges.some(([each]) => samePin(each, from)) }] : [];
    });
  });
}

/** The first pin of a new block of this op that the loose end of a wire fits, for the menu of a dropped wire. */
export function fittingPin(op: Op, end: { source: Source } | { wanted: readonly string[]; sizes: boolean }): string | undefined {
  if ('source' in end) {
    const pins = op.inputs.filter((pin) => fit(end.source.types, end.source.variable, op, pin));
    const direct = pins.find((pin) => fit(end.source.types, end.source.variable, op, pin) === 'wire') ?? pins[0];
    return direct && (direct.list ? `${direct.name}:0` : direct.name);
  }
  return op.outputs.find((pin) => end.sizes || pinTypes(op, pin).some((type) => end.wanted.includes(type)))?.name;
}
