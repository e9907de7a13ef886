import { expect, test } from 'vitest';
import { automatic, choiceText, type Engine, enginesOf, usableChoice } from './engines';

const engines: readonly Engine[] = [
  { name: 'fast', description: 'tiles', obstacle: '' },
  { name: 'far', description: 'a device', obstacle: 'there is no device' },
];

test.each([
  ['fast', 'fast'],
  ['far', automatic],
  ['gone', automatic],
  [automatic, automatic],
])('of the kept choice %j this machine can use %j', (kept, usable) => {
  expect(usableChoice(engines, kept)).toBe(usable);
});

test('a choice has a word, also when it is none', () => {
  expect(choiceText('fast')).toBe('fast');
  expect(choiceText(automatic)).toBe('automatic');
});

test('the engines of a run are those of its blocks, each once', () => {
  const events = [{}, { engine: 'plain' }, { engine: 'fast' }, { engine: 'plain' }, { engine: '' }];
  expect(enginesOf(events)).toEqual(['fast', 'plain']);
  expect(enginesOf([{}])).toEqual([]);
});
