// Texts that people type or paste: lists, attribute texts of enuSpace, C++ braces, Python lists, spreadsheet cells.
import type { Op } from './ops';
import type { Attrs, AttrValue, Element } from './page';

export type Parsed<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly reason: string };

function fail<T>(reason: string): Parsed<T> {
  return { ok: false, reason };
}

/** `1,4,3,2,1`, `{1, 2, 2, 1}`, `[2][2]`, `(1;2)` and `1 2 2 1` are lists of whole numbers. */
export function parseIntegers(text: string): Parsed<number[]> {
  const words = text.replace(/[{}[\]()]/g, ' ').split(/[\s,;]+/);
  const values: number[] = [];
  for (const word of words) {
    if (word === '') continue;
    if (!/^[+-]?\d+$/.test(word)) return fail(`"${word}" is no whole number`);
    const value = Number(word);
    if (!Number.isSafeInteger(value)) return fail(`"${word}" is too large`);
    values.push(value);
  }
  return { ok: true, value: values };
}

const special: Readonly<Record<string, string>> = { nan: 'NaN', inf: 'Infinity', infinity: 'Infinity' };

/** One element as page files write it: a number, or the text of what JSON has no number for. */
export function parseElement(text: string): Element | undefined {
  const word = text.trim();
  if (/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?[fFlLuU]?$/i.test(word)) return Number(word.replace(/[fFlLuU]+$/, ''));
  if (/^(true|false)$/i.test(word)) return word.toLowerCase() === 'true';
  if (/^NaN\(0x[0-9a-f]+\)$/i.test(word)) return word;
  const bare = word.replace(/^[+-]/, '').toLowerCase();
  const name = special[bare.replace(/^(np|numpy|math|tf)\./, '')];
  if (!name) return undefined;
  return word.startsWith('-') && name !== 'NaN' ? `-${name}` : name;
}

export interface Literal {
  /** Sizes that the nesting says; for flat text the count alone. */
  readonly shape: readonly number[];
  readonly data: readonly Element[];
}

function parseNested(text: string): Parsed<Literal> {
  const counts: number[][] = [];
  const data: Element[] = [];
  const open: number[] = [];
  const depths = new Set<number>();
  let word = '';
  const flush = (): string | undefined => {
    if (word.trim() === '') return undefined;
    const element = parseElement(word);
    if (element === undefined) return word.trim();
    data.push(element);
    depths.add(open.length);
    open[open.length - 1] = (open.at(-1) ?? 0) + 1;
    word = '';
    return undefined;
  };
  for (const letter of text) {
    const isOpen = '[{('.includes(letter);
    const isClose = ']})'.includes(letter);
    if (!isOpen && !isClose && !',;'.includes(letter) && !/\s/.test(letter)) {
      word += letter;
      continue;
    }
    const bad = flush();
    if (bad !== undefined) return fail(`"${bad}" is no number`);
    if (isOpen) {
      if (open.length > 0) open[open.length - 1] = (open.at(-1) ?? 0) + 1;
      open.push(0);
    } else if (isClose) {
      const count = open.pop();
      if (count === undefined) return fail('a bracket closes that none has opened');
      const level = open.length;
      counts[level] = [...(counts[level] ?? []), count];
    }
  }
  const bad = flush();
  if (bad !== undefined) return fail(`"${bad}" is no number`);
  if (open.length > 0) return fail('a bracket is not closed');
  for (const [level, each] of counts.entries()) {
    if (each.some((count) => count !== each[0])) return fail(`the brackets of level ${level + 1} hold different counts`);
  }
  const shape = counts.map((each) => each[0] ?? 0);
  const innermost = depths.size === 0 || (depths.size === 1 && depths.has(shape.length));
  return innermost ? { ok: true, value: { shape, data } } : fail('numbers stand outside of the innermost brackets');
}

/** A tensor as text: nested braces or lists give a shape, tabs and lines give rows, anything else is flat. */
export function parseLiteral(text: string): Parsed<Literal> {
  const trimmed = text.trim().replace(/^(np\.array|tf\.constant|torch\.tensor)\s*\(/, '(');
  if (/[[{]/.test(trimmed)) {
    const from = trimmed.search(/[[{]/);
    const to = Math.max(trimmed.lastIndexOf(']'), trimmed.lastIndexOf('}'));
    return parseNested(trimmed.slice(from, to + 1));
  }
  const lines = trimmed.split(/\r?\n/).filter((line) => line.trim() !== '');
  const rows = lines.map((line) => line.split(line.includes('\t') ? '\t' : /[\s,;]+/).filter((cell) => cell.trim() !== ''));
  const data: Element[] = [];
  for (const cell of rows.flat()) {
    const element = parseElement(cell);
    if (element === undefined) return fail(`"${cell.trim()}" is no number`);
    data.push(element);
  }
  const width = rows[0]?.length ?? 0;
  const even = rows.every((row) => row.length === width);
  return { ok: true, value: { shape: rows.length > 1 && even ? [rows.length, width] : [data.length], data } };
}

function attrFromText(kind: string, text: string): Parsed<AttrValue> {
  switch (kind) {
    case 'list(int)':
    case 'shape':
      return parseIntegers(text);
    case 'bool':
      return /^(true|false)$/i.test(text)
        ? { ok: true, value: text.toLowerCase() === 'true' }
        : fail(`"${text}" is not true or false`);
    case 'int':
    case 'float': {
      const value = parseElement(text);
      return typeof value === 'number' ? { ok: true, value } : fail(`"${text}" is no number`);
    }
    default:
      return { ok: true, value: text.replace(/^"(.*)"$/, '$1').replace(/^DT_/, '') };
  }
}

/** `data_format_ = NDHWC; dilations_ = {1,1,1,1,1};`: names are those of the op table, with or without the C++ underscore. */
export function parseAttrText(op: Op, text: string): Parsed<Attrs> {
  const attrs: Record<string, AttrValue> = {};
  for (const part of text.split(/;(?![^{]*\})/)) {
    if (part.trim() === '') continue;
    const at = part.indexOf('=');
    if (at < 0) return fail(`"${part.trim()}" is not name = value`);
    const written = part.slice(0, at).trim();
    const name = written.replace(/_$/, '');
    const attr = op.attrs.find((each) => each.name === name && !each.from_inputs);
    if (!attr) return fail(`${op.name} has no attribute "${written}"`);
    const value = attrFromText(attr.kind, part.slice(at + 1).trim());
    if (!value.ok) return fail(`${name}: ${value.reason}`);
    attrs[name] = value.value;
  }
  return { ok: true, value: attrs };
}

/** The same text the other way, as enuSpace and C++ have it. */
export function attrText(attrs: Attrs): string {
  const texts = Object.entries(attrs).map(([name, value]) => {
    const text = Array.isArray(value) ? `{${value.join(',')}}` : String(value);
    return `${name}_ = ${text};`;
  });
  return texts.join(' ');
}
