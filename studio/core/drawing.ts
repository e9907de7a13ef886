// The canvas as an SVG file of its own: blocks, pins, wires and shapes, drawn from the page, not copied from the screen.
import { sessionId } from './commands';
import { inputPins } from './fits';
import { attrValue, editableAttrs, findOp, type OpTable } from './ops';
import { type AttrValue, isTensor, type Page, type PageNode, type Point } from './page';
import { shapeText } from './tensor';
import { drawnNodes, drawnWires, likeNodes } from './wires';

export interface Ink {
  readonly canvas: string;
  readonly body: string;
  readonly border: string;
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
    parts.push(pinShape(0, y, '#ffff31', '#d02020'), label(14, y + 4, pin, ink.text));
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

function drawWire(from: Point, to: Point, text: string, ink: Ink, like: boolean): string {
  const bend = from[0] < to[0] - 60 ? Math.min(from[0] + 28, (from[0] + to[0]) / 2) : (from[0] + to[0]) / 2;
  const path = `<path d="M${from[0]} ${from[1]}H${bend}V${to[1]}H${to[0]}" fill="none" stroke="${ink.border}" stroke-width="2"${like ? ' stroke-dasharray="6 4"' : ''}/>`;
  return path + label(to[0] - 12, to[1] - 5, like ? `like ${text}` : text, ink.quiet, 'text-anchor="end" font-size="10"');
}

/** `shapes` are texts by `[node, pin]`, as the wires on the screen have them. */
export function drawPage(page: Page, table: OpTable, shapes: ReadonlyMap<string, string>, ink: Ink): string {
  const likes = likeNodes(page, table);
  const blocks = new Map(
    drawnNodes(page, likes).map((node) => [node.id, drawBlock(page, table, node, page.view.at[node.id] ?? [0, 0], ink)]),
  );
  const { session } = page.view;
  const fetched = session ? (page.fetch ?? []) : [];
  if (session) {
    const pins = new Map(
      fetched.map((pin, place): [string, Point] => [JSON.stringify(pin), [session[0], session[1] + top + place * rowHeight]]),
    );
    const rows = fetched.map(
      (pin, place) =>
        pinShape(0, top + place * rowHeight, '#ffff31', '#d02020') +
        label(14, top + 4 + place * rowHeight, pin.join('.'), ink.text),
    );
    const height = top + Math.max(1, fetched.length) * rowHeight;
    const body = `<rect width="${width}" height="${height}" rx="12" fill="${ink.body}" stroke="${ink.border}" stroke-width="3"/>`;
    const text = `<g transform="translate(${session[0]} ${session[1]})">${body}${label(12, 22, sessionId, ink.title, 'font-weight="700" font-size="14"')}${rows.join('')}</g>`;
    blocks.set(sessionId, { at: session, height, pins, text });
  }
  const ends = [
    ...drawnWires(page, likes).map((wire) => ({
      from: wire.from,
      to: blocks.get(wire.to[0])?.pins.get(wire.to[1]),
      like: wire.like !== undefined,
    })),
    ...fetched.map((pin) => ({ from: pin, to: blocks.get(sessionId)?.pins.get(JSON.stringify(pin)), like: false })),
  ];
  const wires = ends.map(({ from, to, like }) => {
    const start = blocks.get(from[0])?.pins.get(from[1]);
    return start && to ? drawWire(start, to, shapes.get(JSON.stringify(from)) ?? '', ink, like) : '';
  });
  const notes = page.view.notes.map((note) =>
    note.text
      .split('\n')
      .map((line, place) => label(note.at[0], note.at[1] + 14 + place * 16, line, ink.quiet))
      .join(''),
  );
  const all = [...blocks.values()];
  const left = Math.min(0, ...all.map((each) => each.at[0])) - 40;
  const high = Math.min(0, ...all.map((each) => each.at[1])) - 40;
  const wide = Math.max(300, ...all.map((each) => each.at[0] + width)) + 40 - left;
  const deep = Math.max(200, ...all.map((each) => each.at[1] + each.height)) + 40 - high;
  const open = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${left} ${high} ${wide} ${deep}" width="${wide}" height="${deep}" font-family="Arial, Helvetica, sans-serif" font-size="12">`;
  const ground = `<rect x="${left}" y="${high}" width="${wide}" height="${deep}" fill="${ink.canvas}"/>`;
  return [open, ground, ...wires, ...all.map((each) => each.text), ...notes, '</svg>'].join('\n');
}
