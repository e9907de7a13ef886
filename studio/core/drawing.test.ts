import { expect, test } from 'vitest';
import { applyCommand, type Command } from './commands';
import { drawPage } from './drawing';
import { emptyPage } from './page';
import { table } from './table.testing';

const ink = {
  canvas: '#2a2a2a',
  body: '#2a2a2a',
  border: '#ffbf28',
  wire: '#cd8f2f',
  title: '#00aeee',
  text: '#fff',
  quiet: '#bbb',
};
const commands: readonly Command[] = [
  { do: 'add', node: { id: 'w<1>', op: 'Const' }, at: [0, 0] },
  { do: 'add', node: { id: 'g', op: 'Conv3DBackpropFilterV2', attrs: { strides: [1, 4, 3, 2, 1] } }, at: [400, 0] },
  { do: 'connect', from: ['w<1>', 'output'], to: ['g', 'filter_sizes'], like: true },
  { do: 'session', at: [800, 0] },
  { do: 'fetch', pin: ['g', 'output'], on: true },
];

test('a drawing of nothing is still a picture', () => {
  expect(drawPage(emptyPage, table, new Map(), ink)).toMatch(/viewBox="[-\d. ]+" width="\d+" height="\d+"/);
});

test('a drawing has every block, pin and wire of the page, and its text is escaped', () => {
  const svg = drawPage(commands.reduce(applyCommand, emptyPage), table, new Map([['["w<1>","output"]', 'float [2]']]), ink);
  expect(svg.match(/<g /g)).toHaveLength(3);
  expect(svg.match(/<path /g)).toHaveLength(2);
  expect(svg).toContain('w&lt;1&gt;');
  expect(svg).toContain('strides: 1,4,3,2,1');
  expect(svg).toContain('like float [2]');
  expect(svg).not.toContain('w<1>');
});
