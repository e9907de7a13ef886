// The op table as GET /api/ops gives it, and questions that the views ask of it.
import type { Attrs, AttrValue, PageNode } from './page';
import { pinName } from './page';

export interface OpPin {
  readonly name: string;
  readonly type: string;
  readonly doc: string;
  readonly list?: boolean;
  readonly variable?: boolean;
}

export interface OpAttr {
  readonly name: string;
  readonly kind: string;
  readonly doc: string;
  readonly default?: AttrValue;
  readonly choices?: readonly string[];
  readonly types?: readonly string[];
  readonly from_inputs?: boolean;
}

export interface Op {
  readonly name: string;
  readonly group: string;
  readonly doc: string;
  readonly inputs: readonly OpPin[];
  readonly outputs: readonly OpPin[];
  readonly attrs: readonly OpAttr[];
  readonly gradient: boolean;
  readonly stateful: boolean;
  readonly formula?: string;
  readonly scene?: string;
}

export interface ElementType {
  readonly name: string;
  readonly bytes: number;
}

export interface OpTable {
  readonly ops: readonly Op[];
  readonly types: readonly ElementType[];
}

/** Accepts the whole of `convgrad ops --json` or its graph part. */
export function readOpTable(value: { graph?: OpTable } & Partial<OpTable>): OpTable {
  const table = value.graph ?? value;
  if (!table.ops || !table.types) throw new Error('The op table has no ops or types.');
  return { ops: table.ops, types: table.types };
}

export function findOp(table: OpTable, name: string): Op | undefined {
  return table.ops.find((op) => op.name === name);
}

/** Attributes that a person sets: not those that the inputs decide, nor a type that a tensor attribute already says. */
export function editableAttrs(op: Op): OpAttr[] {
  const hasTensor = op.attrs.some((attr) => attr.kind === 'tensor');
  return op.attrs.filter((attr) => !attr.from_inputs && !(hasTensor && attr.kind === 'type'));
}

/** Element types that a pin can have by the table. */
export function pinTypes(op: Op, pin: OpPin): readonly string[] {
  return op.attrs.find((attr) => attr.name === pin.type)?.types ?? [pin.type];
}

export function inputPin(op: Op, pin: string): OpPin | undefined {
  return op.inputs.find((each) => each.name === pinName(pin));
}

/** A pin that holds the sizes of another tensor: a wire of that tensor itself can stand for them. */
export function takesSizes(pin: OpPin): boolean {
  return pin.type === 'Tshape' || /(^|_)(sizes|shape)$/.test(pin.name);
}

/** A pin of whole numbers only, which a short list typed on the block can feed. */
export function takesTypedList(op: Op, pin: OpPin): boolean {
  return !pin.list && !pin.variable && pinTypes(op, pin).every((type) => type === 'int32' || type === 'int64');
}

export function attrValue(op: Op, node: PageNode, name: string): AttrValue | undefined {
  return node.attrs?.[name] ?? op.attrs.find((attr) => attr.name === name)?.default;
}

/** A command's value for an attribute: nothing at its default, as files leave it out there. */
export function unlessDefault(op: Op, name: string, value: AttrValue): AttrValue | undefined {
  const preset = op.attrs.find((attr) => attr.name === name)?.default;
  return preset !== undefined && JSON.stringify(preset) === JSON.stringify(value) ? undefined : value;
}

/** The change of an attribute with what must change beside it: explicit paddings are there with that padding and only then. */
export function attrChange(op: Op, node: PageNode, name: string, value: AttrValue): Record<string, AttrValue | undefined> {
  const change = { [name]: unlessDefault(op, name, value) };
  const letters = dimensionLetters(op, node);
  if (name !== 'padding' || !letters || !op.attrs.some((attr) => attr.name === 'explicit_paddings')) return change;
  const zeros = Array.from(letters).flatMap(() => [0, 0]);
  return { ...change, explicit_paddings: value === 'EXPLICIT' ? (node.attrs?.explicit_paddings ?? zeros) : undefined };
}

/** Typed pins that a block shows by themselves, and those behind `attrs`: the ones that have a default. */
export function shownAttrs(op: Op, node: PageNode): { own: OpAttr[]; more: OpAttr[] } {
  const explicit = attrValue(op, node, 'padding') === 'EXPLICIT' || node.attrs?.explicit_paddings !== undefined;
  const attrs = editableAttrs(op).filter((attr) => attr.name !== 'explicit_paddings' || explicit);
  const isOwn = (attr: OpAttr): boolean => attr.default === undefined || attr.name === 'explicit_paddings';
  return { own: attrs.filter(isOwn), more: attrs.filter((attr) => !isOwn(attr)) };
}

/** One letter a dimension, such as NDHWC: what lists with an entry a dimension are labelled with. */
export function dimensionLetters(op: Op, node: PageNode): string | undefined {
  const format = attrValue(op, node, 'data_format');
  return typeof format === 'string' ? format : undefined;
}

function startValue(op: Op, attr: OpAttr): AttrValue {
  switch (attr.kind) {
    case 'tensor':
      return { dtype: 'float', shape: [1], data: [0] };
    case 'type':
      return attr.types?.includes('float') ? 'float' : (attr.types?.[0] ?? '');
    case 'string':
      return attr.choices?.[0] ?? '';
    case 'list(int)': {
      const format = op.attrs.find((each) => each.name === 'data_format')?.default;
      return typeof format === 'string' ? Array.from(format, () => 1) : [];
    }
    case 'shape':
      return [1];
    case 'bool':
      return false;
    default:
      return 0;
  }
}

/** What a fresh block starts with where the table has no default, so that it can run as placed. */
export function startAttrs(op: Op): Attrs {
  const needed = editableAttrs(op).filter((attr) => attr.default === undefined);
  return Object.fromEntries(needed.map((attr) => [attr.name, startValue(op, attr)]));
}

/** Names of a tensor's dimensions for labels: by data_format, or the filter's order where the pin is a filter. */
export function axisLetters(op: Op, node: PageNode, pin: string, rank: number): readonly string[] {
  const format = dimensionLetters(op, node);
  if (!format || format.length !== rank) return Array.from({ length: rank }, (_, axis) => `${axis}`);
  const isFilter = pin === 'filter' || (/BackpropFilter/.test(op.name) && op.outputs.some((each) => each.name === pin));
  if (!isFilter) return Array.from(format);
  const space = Array.from(format).filter((letter) => letter !== 'N' && letter !== 'C');
  return [...space, 'I', 'O'];
}
