import { expect, test } from 'vitest';
import { turnOf } from './route';

const block = { x: 200, y: 80, width: 100, height: 100 };

test('a wire turns near its start when nothing is in the way', () => {
  expect(turnOf([0, 0], [500, 100], [])).toBe(26);
});

test('a wire turns where it runs behind no block', () => {
  // At the height of its end stands a block: the wire passes above it and turns behind.
  expect(turnOf([0, 0], [500, 100], [block])).toBe(474);
});

test('a wire that runs backwards has no turn of ours', () => {
  expect(turnOf([500, 0], [0, 100], [])).toBeUndefined();
});
