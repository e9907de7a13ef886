import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Command } from './commands';
import { type History, record, redo, startHistory, undo } from './history';
import { emptyPage } from './page';

const id = fc.constantFrom('a', 'b', 'c', 'd', 'AddN');
const pin = fc.tuple(id, fc.constantFrom('output', 'input', 'inputs:0', 'inputs:1', 'filter_sizes'));
const point = fc.tuple(fc.integer({ min: -900, max: 900 }), fc.integer({ min: -900, max: 900 }));
const value = fc.oneof(
  fc.integer(),
  fc.constantFrom('SAME', 'VALID'),
  fc.array(fc.integer(), { maxLength: 5 }),
  fc.constant(undefined),
);

const command: fc.Arbitrary<Command> = fc.oneof(
  fc.record({
    do: fc.constant('add' as const),
    node: fc.record({ id, op: fc.constantFrom('Const', 'AddN', 'Shape') }),
    at: point,
  }),
  fc.record({ do: fc.constant('remove' as const), ids: fc.array(id, { maxLength: 2 }) }),
  fc.record({ do: fc.constant('move' as const), to: fc.dictionary(id, point) }),
  fc.record({ do: fc.constant('connect' as const), from: pin, to: pin, like: fc.boolean() }),
  fc.record({ do: fc.constant('set' as const), node: id, attr: fc.constantFrom('padding', 'strides'), value }),
  fc.record({ do: fc.constant('type' as const), pin, values: fc.array(fc.integer(), { maxLength: 3 }) }),
  fc.record({ do: fc.constant('rename' as const), id, to: fc.constantFrom('a', 'e', 'f', '') }),
  fc.record({ do: fc.constant('note' as const), note: fc.record({ id: fc.constant('n'), at: point, text: fc.string() }) }),
  fc.record({
    do: fc.constant('group' as const),
    group: fc.record({ id: fc.constant('g'), title: fc.string(), members: fc.array(id, { maxLength: 3 }) }),
  }),
  fc.record({ do: fc.constant('session' as const), at: point }),
  fc.record({ do: fc.constant('fetch' as const), pin, on: fc.boolean() }),
);
const step = fc.record({
  commands: fc.array(command, { minLength: 1, maxLength: 3 }),
  key: fc.constantFrom(undefined, 'x', 'y'),
});

function times(count: number, change: (history: History) => History, history: History): History {
  return Array.from({ length: count }).reduce<History>(change, history);
}

test('undo n, redo n is the same file, and undo of all is the first file', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), fc.nat(40), (steps, count) => {
      const done = steps.reduce(
        (history, { commands, key }, at) => record(history, commands, key, at * 700),
        startHistory(emptyPage),
      );
      const file = JSON.stringify(done.present);
      expect(JSON.stringify(times(count, redo, times(count, undo, done)).present)).toBe(file);
      expect(times(done.past.length, undo, done).present).toBe(emptyPage);
    }),
    { numRuns: 300 },
  );
});

test('a file never has a wire or fetch of a node that is not there after a removal', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), id, (steps, gone) => {
      const done = steps.reduce((history, { commands }) => record(history, commands), startHistory(emptyPage));
      const { present } = record(done, [{ do: 'remove', ids: [gone] }]);
      expect(present.nodes.some((node) => node.id === gone)).toBe(false);
      expect(present.edges.flat().some(([node]) => node === gone)).toBe(false);
      expect(present.fetch?.some(([node]) => node === gone) ?? false).toBe(false);
      expect(present.view.groups.some((group) => group.members.includes(gone))).toBe(false);
    }),
    { numRuns: 300 },
  );
});

function typing(texts: readonly string[], gap: number): History {
  return texts.reduce(
    (history, text, at) => record(history, [{ do: 'note', note: { id: 'n', at: [0, 0], text } }], 'note:n', at * gap),
    startHistory(emptyPage),
  );
}

test('keystrokes of one field are one step until a pause', () => {
  expect(undo(typing(['c', 'co', 'con'], 200)).present).toBe(emptyPage);
  expect(undo(typing(['c', 'co', 'con'], 5000)).present.view.notes[0]?.text).toBe('co');
});

test('another field ends the step, and a new change forgets what was undone', () => {
  const one = typing(['c'], 0);
  const two = record(one, [{ do: 'session', at: [1, 2] }], 'session', 10);
  expect(undo(two).present).toBe(one.present);
  expect(record(undo(two), [{ do: 'session', at: [9, 9] }]).future).toEqual([]);
});
