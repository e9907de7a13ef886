import { expect, test } from 'vitest';
import { applyCommand, type Command, freshId } from './commands';
import { targetsOf } from './fits';
import { emptyPage, meaning, type Page, type Pin, readPage } from './page';
import { partOf } from './part';
import { table } from './table.testing';
import { drawnNodes, drawnWires, likeNodes, typedAt, typedValues } from './wires';

function build(...commands: Command[]): Page {
  return commands.reduce(applyCommand, emptyPage);
}

const add = (id: string, op: string): Command => ({ do: 'add', node: { id, op }, at: [10.4, 20.6] });
const connect = (from: Pin, to: Pin, like = false): Command => ({ do: 'connect', from, to, like });

const gradient = build(
  add('w', 'Const'),
  add('g', 'Conv3DBackpropFilterV2'),
  connect(['w', 'output'], ['g', 'filter_sizes'], true),
);

test('places are whole numbers', () => {
  expect(gradient.view.at.w).toEqual([10, 21]);
});

test('a wire of the original tensor to a sizes pin is a Shape node in the file and one wire on the canvas', () => {
  expect(meaning(gradient).edges).toEqual([
    [
      ['w', 'output'],
      ['w_shape', 'input'],
    ],
    [
      ['w_shape', 'output'],
      ['g', 'filter_sizes'],
    ],
  ]);
  const likes = likeNodes(gradient, table);
  expect(drawnNodes(gradient, likes).map((node) => node.id)).toEqual(['w', 'g']);
  expect(drawnWires(gradient, likes)).toMatchObject([{ from: ['w', 'output'], to: ['g', 'filter_sizes'], like: 'w_shape' }]);
});

test('removing a like wire removes its Shape node, removing a placed Shape block does not happen', () => {
  const [wire] = drawnWires(gradient, likeNodes(gradient, table));
  const cut = applyCommand(gradient, { do: 'remove', ids: [], edges: wire?.edges ?? [] });
  expect(cut.nodes.map((node) => node.id)).toEqual(['w', 'g']);
  const placed = build(add('s', 'Shape'), add('g', 'Conv3DBackpropFilterV2'), connect(['s', 'output'], ['g', 'filter_sizes']));
  const kept = applyCommand(placed, { do: 'remove', ids: [], edges: placed.edges });
  expect(kept.nodes.map((node) => node.id)).toEqual(['s', 'g']);
});

test('a new wire into a pin replaces the old one', () => {
  const page = build(add('a', 'Const'), add('b', 'Const'), add('g', 'Conv3DBackpropFilterV2'));
  const wired = [connect(['a', 'output'], ['g', 'input']), connect(['b', 'output'], ['g', 'input'])].reduce(applyCommand, page);
  expect(wired.edges).toEqual([
    [
      ['b', 'output'],
      ['g', 'input'],
    ],
  ]);
});

test('pins of a list close their gaps, in numeric order', () => {
  const pins = Array.from({ length: 12 }, (_, index) => connect([`c${index}`, 'output'], ['s', `inputs:${index}`]));
  const page = build(...Array.from({ length: 12 }, (_, index) => add(`c${index}`, 'Const')), add('s', 'AddN'), ...pins);
  const cut = applyCommand(page, { do: 'remove', ids: ['c1'] });
  expect(cut.edges.map(([from, to]) => [from[0], to[1]])).toEqual(
    [0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11].map((each, place) => [`c${each}`, `inputs:${place}`]),
  );
});

test('a list typed at a pin is a constant of the file, changed by typing on and gone with its block', () => {
  const start = build(add('g', 'Conv3DBackpropFilterV2'));
  const pin: Pin = ['g', 'filter_sizes'];
  const typed = applyCommand(start, { do: 'type', pin, values: [2, 2] });
  const again = applyCommand(typed, { do: 'type', pin, values: [2, 2, 2, 2, 2] });
  const node = typedAt(again, pin);
  expect(node && typedValues(node)).toEqual([2, 2, 2, 2, 2]);
  expect(again.nodes).toHaveLength(2);
  expect(applyCommand(again, { do: 'remove', ids: ['g'] }).nodes).toEqual([]);
  expect(applyCommand(again, { do: 'type', pin, values: [] }).nodes).toHaveLength(1);
});

test('a rename reaches wires, fetch, groups and places, and refuses a name that is taken', () => {
  const page = build(
    add('a', 'Const'),
    add('g', 'Conv3DBackpropFilterV2'),
    connect(['a', 'output'], ['g', 'input']),
    { do: 'session', at: [0, 0] },
    { do: 'fetch', pin: ['g', 'output'], on: true },
    { do: 'group', group: { id: 'group', title: 't', members: ['a', 'g'] } },
    { do: 'rename', id: 'g', to: 'filter_gradient' },
  );
  expect(page.edges[0]?.[1]).toEqual(['filter_gradient', 'input']);
  expect(page.fetch).toEqual([['filter_gradient', 'output']]);
  expect(page.view.groups[0]?.members).toEqual(['a', 'filter_gradient']);
  expect(page.view.at.filter_gradient).toBeDefined();
  expect(applyCommand(page, { do: 'rename', id: 'a', to: 'filter_gradient' })).toBe(page);
});

test('a pasted part has new names, its own wires and the typed boxes of its blocks', () => {
  const typed = applyCommand(build(add('g', 'Conv3DBackpropFilterV2')), { do: 'type', pin: ['g', 'filter_sizes'], values: [1] });
  const part = partOf(typed, ['g'], new Map());
  const twice = applyCommand(typed, { do: 'paste', part: readPage(JSON.parse(JSON.stringify(part))), by: [24, 24] });
  expect(twice.nodes.map((node) => node.id)).toEqual(['g', 'g_filter_sizes', 'g_2', 'g_filter_sizes_2']);
  expect(twice.edges[1]).toEqual([
    ['g_filter_sizes_2', 'output'],
    ['g_2', 'filter_sizes'],
  ]);
  expect(twice.view.typed).toEqual(['g_filter_sizes', 'g_filter_sizes_2']);
  expect(twice.view.at.g_2).toEqual([34, 45]);
});

test('removing the session block forgets what was fetched', () => {
  const page = build(add('a', 'Const'), { do: 'session', at: [5, 5] }, { do: 'fetch', pin: ['a', 'output'], on: true });
  const gone = applyCommand(page, { do: 'remove', ids: ['ClientSession'] });
  expect(gone.fetch).toBeUndefined();
  expect(gone.view.session).toBeUndefined();
});

test('fresh names count up', () => {
  expect(freshId(build(add('Const', 'Const'), add('Const_2', 'Const')), 'Const')).toBe('Const_3');
});

test('wires are offered where type and kind of pin fit, and never in a circle', () => {
  const page = build(add('a', 'Const'), add('g', 'Conv3DBackpropFilterV2'), add('s', 'AddN'), add('v', 'Assign'), {
    do: 'connect',
    from: ['g', 'output'],
    to: ['s', 'inputs:0'],
  });
  const known = new Map([
    ['["a","output"]', 'float'],
    ['["s","sum"]', 'float'],
  ]);
  const offered = targetsOf(page, table, known, ['a', 'output']).map((each) => [...each.pin, each.fit]);
  expect(offered).toEqual([
    ['g', 'input', 'wire'],
    ['g', 'filter_sizes', 'like'],
    ['g', 'out_backprop', 'wire'],
    ['s', 'inputs:1', 'wire'],
    ['v', 'value', 'wire'],
    ['s', 'inputs:0', 'wire'],
  ]);
  expect(targetsOf(page, table, known, ['s', 'sum']).some((each) => each.pin[0] === 'g')).toBe(false);
});
