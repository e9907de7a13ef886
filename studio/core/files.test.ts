import { expect, test } from 'vitest';
import { applyCommand } from './commands';
import { align, arrange } from './layout';
import { pageFromFragment, pageToFragment } from './link';
import { emptyPage, readPage } from './page';
import { keep, recentFiles, recover, rememberFile, type Shelf } from './storage';

const page = applyCommand(emptyPage, { do: 'add', node: { id: 'x', op: 'Const', name: 'Gr\u00f6\u00dfe' }, at: [1, 2] });

function shelf(room = 1e6): Shelf {
  const items = new Map<string, string>();
  return {
    getItem: (key) => items.get(key) ?? null,
    setItem(key, value) {
      if (value.length > room) throw new Error('full');
      items.set(key, value);
    },
  };
}

test('a link holds the whole page', async () => {
  const fragment = await pageToFragment(page);
  expect(fragment).toMatch(/^#page=1\.[\w-]+$/);
  expect(await pageFromFragment(fragment)).toEqual(page);
  expect(await pageFromFragment('#else')).toBeUndefined();
  await expect(pageFromFragment(`${fragment.slice(0, 20)}!!`)).rejects.toThrow();
});

test('a link that unpacks to too much is refused', async () => {
  const huge = await pageToFragment({
    ...page,
    nodes: [{ id: 'x'.repeat(17 * 1024 * 1024), op: 'Const' }],
  });
  await expect(pageFromFragment(huge)).rejects.toThrow('too large');
});

test('what is kept is recovered, and broken or full storage does no harm', () => {
  const store = shelf();
  expect(keep(store, { page, file: 'a.json', stamp: '7', dirty: true })).toBe(true);
  expect(recover(store)).toEqual({ page, file: 'a.json', stamp: '7', dirty: true });
  expect(keep(shelf(3), { page, file: null, stamp: null, dirty: true })).toBe(false);
  store.setItem('convgrad.studio.page', '{"page": 3');
  expect(recover(store)).toBeUndefined();
});

test('recent files: newest first, each once', () => {
  const store = shelf();
  for (const name of ['a', 'b', 'a', 'c']) rememberFile(store, name);
  expect(recentFiles(store)).toEqual(['c', 'a', 'b']);
});

test.each([
  [null, 'a JSON object'],
  [{ convgrad: 2 }, 'version 1'],
  [{ convgrad: 1, nodes: [{ op: 'Const' }] }, 'Node 0'],
  [{ convgrad: 1, edges: [['a', 'b']] }, 'Wire 0'],
  [{ convgrad: 1, fetch: ['y'] }, 'fetch'],
])('%j is no page', (value, words) => {
  expect(() => readPage(value)).toThrow(words);
});

test('a view of another program is left out, not refused', () => {
  const view = { at: { x: 'here', y: [1, 2] }, groups: [3], notes: [{ id: 'n' }], session: [1, 'a'] };
  expect(readPage({ convgrad: 1, view }).view).toEqual({ studio: 1, at: { y: [1, 2] }, groups: [], notes: [], typed: [] });
});

test('layout reads from left to right without overlaps', () => {
  const size = { width: 260, height: 160 };
  const ids = ['a', 'b', 'c'];
  const sizes = new Map(ids.map((id) => [id, size]));
  const wire = (from: string, to: string) => ({ from: [from, 'output'] as const, to: [to, 'input'] as const, edges: [] });
  const at = arrange(ids, [wire('a', 'c'), wire('b', 'c')], sizes);
  expect(at.c?.[0]).toBeGreaterThanOrEqual((at.a?.[0] ?? 0) + size.width);
  expect(Math.abs((at.a?.[1] ?? 0) - (at.b?.[1] ?? 0))).toBeGreaterThanOrEqual(size.height);
});

test('align right puts right edges on one line', () => {
  const sizes = new Map([
    ['a', { width: 100, height: 10 }],
    ['b', { width: 300, height: 10 }],
  ]);
  expect(align(['a', 'b'], 'right', { a: [0, 0], b: [50, 40] }, sizes)).toEqual({ a: [250, 0], b: [50, 40] });
});
