// The canvas as an SVG file of its own: blocks, pins, wires and shapes, drawn from the page, not copied from the screen.
import { sessionId } from './commands';
import { inputPins } from './fits';
import { attrValue, editableAttrs, findOp, type OpTable } from './ops';
import { type AttrValue, isTensor, type Page, type PageNode, type Pin, type Point } from './page';
import { turnOf } from './route';
import { shapeText } from './tensor';
import { drawnNodes, drawnWires, likeNodes, typedAt, typedValues } from './wires';

export interface Ink {
  readonly canvas: string;
  readonly body: string;
  readonly border: string;
  readonly wire: string;
  readonly title: string;
  readonly text: string;
  readonly quiet: string;
}

const width = 264;
const rowHeight = 22;
const top = 54;

interface Drawn {
  readonly at: Point;
  readonly height: number;
  readonly pins: ReadonlyMap<string, Point>;
  readonly text: string;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function label(x: number, y: number, text: string, fill: string, more = ''): string {
  return `<text x="${x}" y="${y}" fill="${fill}" ${more}>${escaped(text)}</text>`;
}

function pinShape(x: number, y: number, fill: string, stroke: string): string {
  return `<circle cx="${x}" cy="${y}" r="5" fill="${fill}" stroke="${stroke}" stroke-width="1.5"/>`;
}

function valueText(value: AttrValue | undefined): string {
  if (isTensor(value)) return `${value.dtype} ${shapeText(value.shape)}`;
  return Array.isArray(value) ? value.join(',') : String(value);
}

function drawBlock(page: Page, table: OpTable, node: PageNode, at: Point, ink: Ink): Drawn {
  const op = findOp(table, node.op);
  const pins = new Map<string, Point>();
  const parts: string[] = [];
  let y = top;
  for (const { pin } of op ? inputPins(page, op, node.id) : []) {
    pins.set(pin, [at[0], at[1] + y]);
    const typed = typedAt(page, [node.id, pin]);
    const text = typed ? `${pin}: ${typedValues(typed).join(',')}` : pin;
    parts.push(pinShape(0, y, typed ? '#808080' : '#ffff31', '#d02020'), label(14, y + 4, text, ink.text));
    y += rowHeight;
  }
  for (const attr of op ? editableAttrs(op) : []) {
    if (attr.default !== undefined && node.attrs?.[attr.name] === undefined) continue;
    const value = op && attrValue(op, node, attr.name);
    parts.push(`<rect x="-4" y="${y - 4}" width="8" height="8" fill="#808080"/>`);
    parts.push(label(14, y + 4, `${attr.name}: ${valueText(value)}`, ink.quiet));
    y += rowHeight;
  }
  for (const output of op?.outputs ?? []) {
    pins.set(output.name, [at[0] + width, at[1] + y]);
    parts.push(pinShape(width, y, '#8acf57', '#ffffff'), label(width - 14, y + 4, output.name, ink.text, 'text-anchor="end"'));
    y += rowHeight;
  }
  const head = label(12, 22, node.op, ink.title, 'font-weight="700" font-size="14"') + label(12, 38, node.id, ink.quiet);
  const body = `<rect width="${width}" height="${y}" rx="12" fill="${ink.body}" stroke="${ink.border}" stroke-width="3"/>`;
  return { at, height: y, pins, text: `<g transform="translate(${at[0]} ${at[1]})">${body}${head}${parts.join('')}</g>` };
}

function drawSession(at: Point, fetched: readonly Pin[], ink: Ink): Drawn {
  const rows = fetched.map((pin, place) => ({ pin, y: top + place * rowHeight }));
  const height = top + Math.max(1, rows.length) * rowHeight;
  const parts = rows.map(({ pin, y }) => pinShape(0, y, '#ffff31', '#d02020') + label(14, y + 4, pin.join('.'), ink.text));
  const head = label(12, 22, sessionId, ink.title, 'font-weight="700" font-size="14"');
  const body = `<rect width="${width}" height="${height}" rx="12" fill="${ink.body}" stroke="${ink.border}" stroke-width="3"/>`;
  const text = `<g transform="translate(${at[0]} ${at[1]})">${body}${head}${parts.join('')}</g>`;
  return { at, height, pins: new Map(rows.map(({ pin, y }) => [JSON.stringify(pin), [at[0], at[1] + y]])), text };
}

function drawWire(from: Point, to: Point, turn: number, text: string, ink: Ink): string {
  const dashes = text.startsWith('like') ? ' stroke-dasharray="6 4"' : '';
  const line = `M${from[0]} ${from[1]}H${turn}V${to[1]}H${to[0]}`;
  const path = `<path d="${line}" fill="none" stroke="${ink.wire}" stroke-width="2"${dashes}/>`;
  return path + label(to[0] - 12, to[1] - 5, text, ink.quiet, 'text-anchor="end" font-size="10"');
}

interface End {
  readonly from: Pin;
  readonly to: Point | undefined;
  readonly like: boolean;
}

function drawWires(
  ends: readonly End[],
  blocks: ReadonlyMap<string, Drawn>,
  shapes: ReadonlyMap<string, string>,
  ink: Ink,
): string[] {
  const boxes = Array.from(blocks.values(), ({ at, height }) => ({ x: at[0], y: at[1], width, height }));
  return ends.flatMap(({ from, to, like }) => {
    const start = blocks.get(from[0])?.pins.get(from[1]);
    if (!start || !to) return [];
    const shape = shapes.get(JSON.stringify(from)) ?? '';
    const turn = turnOf(start, to, boxes) ?? (start[0] + to[0]) / 2;
    return [drawWire(start, to, turn, like ? `like ${shape}` : shape, ink)];
  });
}

/** `shapes` are texts by `[node, pin]`, as the wires on the screen have them. */
export function drawPage(page: Page, table: OpTable, shapes: ReadonlyMap<string, string>, ink: Ink): string {
  const likes = likeNodes(page, table);
  const { at, session, notes } = page.view;
  const blocks = new Map(
    drawnNodes(page, likes).map((node) => [node.id, drawBlock(page, table, node, at[node.id] ?? [0, 0], ink)]),
  );
  const fetched = session ? (page.fetch ?? []) : [];
  if (session) blocks.set(sessionId, drawSession(session, fetched, ink));
  const pinOf = (block: string, pin: string): Point | undefined => blocks.get(block)?.pins.get(pin);
  const ends: End[] = [
    ...drawnWires(page, likes).map(({ from, to, like }) => ({ from, to: pinOf(to[0], to[1]), like: like !== undefined })),
    ...fetched.map((from) => ({ from, to: pinOf(sessionId, JSON.stringify(from)), like: false })),
  ];
  const lines = notes.flatMap((note) =>
    note.text.split('\n').map((line, place) => label(note.at[0], note.at[1] + 14 + place * 16, line, ink.quiet)),
  );
  const all = [...blocks.values()];
  const left = Math.min(...all.map((each) => each.at[0]), ...notes.map((note) => note.at[0]), 1e6) - 40;
  const high = Math.min(...all.map((each) => each.at[1]), ...notes.map((note) => note.at[1]), 1e6) - 40;
  const wide =
    Math.max(...all.map((each) => each.at[0] + width), ...notes.map((note) => note.at[0] + 220), left + 300) + 40 - left;
  const deep =
    Math.max(...all.map((each) => each.at[1] + each.height), ...notes.map((note) => note.at[1] + 60), high + 200) + 40 - high;
  const frame = `viewBox="${left} ${high} ${wide} ${deep}" width="${wide}" height="${deep}"`;
  const open = `<svg xmlns="http://www.w3.org/2000/svg" ${frame} font-family="Arial, Helvetica, sans-serif" font-size="12">`;
  const ground = `<rect x="${left}" y="${high}" width="${wide}" height="${deep}" fill="${ink.canvas}"/>`;
  return [open, ground, ...drawWires(ends, blocks, shapes, ink), ...all.map((each) => each.text), ...lines, '</svg>'].join('\n');
}
