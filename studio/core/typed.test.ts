import { expect, test } from 'vitest';
import { attrChange, shownAttrs, startAttrs } from './ops';
import { op } from './table.testing';
import { attrText, parseAttrText, parseElement, parseIntegers, parseLiteral } from './typed';

const gradient = op('Conv3DBackpropFilterV2');

test.each([
  ['1,4,3,2,1', [1, 4, 3, 2, 1]],
  ['{1,2,2,1}', [1, 2, 2, 1]],
  ['{1; 2; 2; 1}', [1, 2, 2, 1]],
  ['[2][3]', [2, 3]],
  [' [1, -1] ', [1, -1]],
  ['', []],
])('whole numbers of %j', (text, value) => {
  expect(parseIntegers(text)).toEqual({ ok: true, value });
});

test.each(['1,x', '1.5', '99999999999999999999'])('%j is refused as a list of whole numbers', (text) => {
  expect(parseIntegers(text).ok).toBe(false);
});

test('the texts of enuSpace set attributes of the op table', () => {
  expect(parseAttrText(gradient, 'data_format_ = NCDHW; dilations_ = {1,2,2,2,1};')).toEqual({
    ok: true,
    value: { data_format: 'NCDHW', dilations: [1, 2, 2, 2, 1] },
  });
  expect(parseAttrText(gradient, 'dilations={1;2;2;2;1}')).toEqual({ ok: true, value: { dilations: [1, 2, 2, 2, 1] } });
});

test('a name that the op has not is an error with the name', () => {
  expect(parseAttrText(gradient, 'dialtions_ = {1,1,1,1};')).toEqual({
    ok: false,
    reason: 'Conv3DBackpropFilterV2 has no attribute "dialtions_"',
  });
  expect(parseAttrText(gradient, 'T = float').ok).toBe(false);
  expect(parseAttrText(gradient, 'NDHWC').ok).toBe(false);
});

test('attributes as text read back', () => {
  const attrs = { data_format: 'NCDHW', dilations: [1, 2, 2, 2, 1] };
  expect(parseAttrText(gradient, attrText(attrs))).toEqual({ ok: true, value: attrs });
});

test.each([
  ['C++ braces', '{{1, 2.5f}, {3, -4}}', [2, 2], [1, 2.5, 3, -4]],
  ['a Python list', '[[[1], [2]], [[3], [4]]]', [2, 2, 1], [1, 2, 3, 4]],
  ['NumPy text', 'np.array([[1., 2.], [3., 4.]], dtype=np.float32)', [2, 2], [1, 2, 3, 4]],
  ['printed NumPy', '[[1. 2.]\n [3. nan]]', [2, 2], [1, 2, 3, 'NaN']],
  ['spreadsheet cells', '1\t2\t3\n4\t5\t6\n', [2, 3], [1, 2, 3, 4, 5, 6]],
  ['flat text', '1, 2, 3, 4', [4], [1, 2, 3, 4]],
  ['one number', '7', [1], [7]],
])('%s', (_name, text, shape, data) => {
  expect(parseLiteral(text)).toEqual({ ok: true, value: { shape, data } });
});

test.each([
  ['{{1,2},{3}}', 'the brackets of level 2 hold different counts'],
  ['[1, [2]]', 'numbers stand outside of the innermost brackets'],
  ['1\tx', '"x" is no number'],
  ['[1, two]', '"two" is no number'],
])('%j is refused: %s', (text, reason) => {
  expect(parseLiteral(text)).toEqual({ ok: false, reason });
});

test('elements that JSON has no number for', () => {
  expect(['nan', '-inf', 'np.inf', 'NaN(0x7fc00001)', 'true', '1e-3', '.5', 'x', ''].map(parseElement)).toEqual([
    'NaN',
    '-Infinity',
    'Infinity',
    'NaN(0x7fc00001)',
    true,
    0.001,
    0.5,
    undefined,
    undefined,
  ]);
});

test('explicit paddings come and go with their padding', () => {
  const node = { id: 'g', op: gradient.name, attrs: { padding: 'SAME' } };
  expect(attrChange(gradient, node, 'padding', 'EXPLICIT')).toEqual({
    padding: 'EXPLICIT',
    explicit_paddings: Array(10).fill(0),
  });
  expect(attrChange(gradient, node, 'padding', 'VALID')).toEqual({ padding: 'VALID', explicit_paddings: undefined });
  const names = (attrs: { padding: string }) => shownAttrs(gradient, { ...node, attrs }).own.map((attr) => attr.name);
  expect(names({ padding: 'SAME' })).toEqual(['strides', 'padding']);
  expect(names({ padding: 'EXPLICIT' })).toEqual(['strides', 'padding', 'explicit_paddings']);
});

test('a fresh block starts with ones in every dimension and the first choice', () => {
  expect(startAttrs(gradient)).toEqual({ strides: [1, 1, 1, 1, 1], padding: 'SAME' });
});
