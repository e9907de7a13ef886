import { expect, test } from 'vitest';
import { axisLetters } from './ops';
import { op } from './table.testing';
import {
  bytesText,
  cellIndex,
  fillElements,
  flatIndex,
  indexOf,
  nestedText,
  secondsText,
  shortNumber,
  sliceCell,
  sliceQuery,
  startSlice,
} from './tensor';

const shape = [2, 3, 4, 5];

test('flat places and indices are each other', () => {
  for (let flat = 0; flat < 120; flat += 1) expect(flatIndex(shape, indexOf(shape, flat))).toBe(flat);
});

test('a slice shows rows and columns of the letters, or of the last axes', () => {
  expect(sliceQuery(startSlice(shape, ['N', 'H', 'W', 'C']))).toBe('0,:,:,0');
  expect(sliceQuery(startSlice(shape))).toBe('0,0,:,:');
  expect(sliceQuery(startSlice([7]))).toBe(':');
  expect(sliceQuery(startSlice([]))).toBe('');
});

test('a turned slice reads the same elements', () => {
  const slice = { rows: 3, columns: 1, at: [1, 0, 2, 0] };
  // Row-major answer of at=1,:,2,: as the server cuts it.
  const answer = [0, 1, 2].flatMap((h) => [0, 1, 2, 3, 4].map((c) => flatIndex(shape, [1, h, 2, c])));
  for (let row = 0; row < 5; row += 1) {
    for (let column = 0; column < 3; column += 1) {
      expect(answer[sliceCell(shape, slice, row, column)]).toBe(flatIndex(shape, cellIndex(slice, row, column)));
    }
  }
});

test('fills', () => {
  expect(fillElements(3, 'float', { kind: 'range', from: 1, step: 2 })).toEqual([1, 3, 5]);
  expect(fillElements(3, 'bool', { kind: 'one-hot', at: 1 })).toEqual([false, true, false]);
  const random = fillElements(50, 'float', { kind: 'random', seed: 7, low: -1, high: 1 });
  expect(random).toEqual(fillElements(50, 'float', { kind: 'random', seed: 7, low: -1, high: 1 }));
  expect(random).not.toEqual(fillElements(50, 'float', { kind: 'random', seed: 8, low: -1, high: 1 }));
  expect(random.every((value) => Math.abs(Number(value)) <= 1)).toBe(true);
  expect(fillElements(50, 'int32', { kind: 'random', seed: 7, low: 0, high: 9 }).every(Number.isInteger)).toBe(true);
});

test('filters are labelled in their own order', () => {
  const row = op('Conv3DBackpropFilterV2');
  const node = { id: 'g', op: row.name };
  expect(axisLetters(row, node, 'output', 5).join('')).toBe('DHWIO');
  expect(axisLetters(row, node, 'input', 5).join('')).toBe('NDHWC');
  expect(axisLetters(row, { ...node, attrs: { data_format: 'NCDHW' } }, 'input', 5).join('')).toBe('NCDHW');
  expect(axisLetters(row, node, 'input', 2)).toEqual(['0', '1']);
});

test('nested lists say the shape', () => {
  expect(nestedText([2, 1, 2], ['1', '2', '3', '4'])).toBe('[[[1, 2]], [[3, 4]]]');
  expect(nestedText([], ['7'])).toBe('7');
});

test('a read-out does not turn a whole number into another', () => {
  const texts = ['1138728', '-2295412', '1234567890123', '16777216.5', '-0.000012345678', '120000000000'];
  expect(texts.map((text) => shortNumber(text, 5))).toEqual([
    '1138728',
    '-2295412',
    '1.2346e+12',
    '1.6777e+7',
    '-0.000012346',
    '1.2e+11',
  ]);
});

test('short texts', () => {
  expect([shortNumber('121040'), shortNumber('0.12345678'), shortNumber('NaN'), bytesText(4096), secondsText(2.5e-5)]).toEqual([
    '121040',
    '0.123457',
    'NaN',
    '4.1 kB',
    '25 us',
  ]);
});
