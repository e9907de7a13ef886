import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Page } from '@playwright/test';
import { expect, test } from './studio';

const blocks = 200;
const frames = 90;
const edits = 30;

function bundleKilobytes(): number {
  const folder = resolve(import.meta.dirname, '../../build/studio/dist');
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.reduce((sum, entry) => sum + gzipSync(readFileSync(resolve(entry.parentPath, entry.name))).length, 0) / 1000;
}

/** A page of rows: a constant, then Relu after Relu. */
function largePage(): string {
  const nodes = [];
  const edges = [];
  const at: Record<string, [number, number]> = {};
  for (let number = 0; number < blocks; number += 1) {
    const column = number % 20;
    const id = `b${number}`;
    at[id] = [column * 400, Math.floor(number / 20) * 300];
    if (column === 0) nodes.push({ id, op: 'Const', attrs: { value: { dtype: 'float', shape: [2, 2], data: [1, -2, 3, -4] } } });
    else {
      nodes.push({ id, op: 'Relu' });
      edges.push([
        [`b${number - 1}`, column === 1 ? 'output' : 'activations'],
        [id, 'features'],
      ]);
    }
  }
  return JSON.stringify({ page: { convgrad: 1, nodes, edges, view: { studio: 1, at } }, file: null, stamp: null, dirty: true });
}

/** The middle of the times between frames while a block is dragged in a circle. */
async function dragFrameRate(page: Page): Promise<number> {
  const box = await page.locator('.react-flow__node[data-id="b105"]').boundingBox();
  if (!box) throw new Error('The block to drag is not drawn.');
  const [x, y] = [box.x + box.width / 2, box.y + 4];
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.evaluate(() => {
    const times: number[] = [];
    const next = (time: number): void => {
      times.push(time);
      requestAnimationFrame(next);
    };
    requestAnimationFrame(next);
    Object.assign(window, { frameTimes: times });
  });
  for (let step = 0; step < frames; step += 1) {
    await page.mouse.move(x + 40 * Math.cos(step / 9), y + 40 * Math.sin(step / 9));
  }
  await page.mouse.up();
  const times = await page.evaluate(() => (window as unknown as { frameTimes: number[] }).frameTimes);
  const gaps = times.slice(1).map((time, place) => time - (times[place] ?? 0));
  const middle = gaps.sort((a, b) => a - b)[Math.floor(gaps.length / 2)] ?? 0;
  return 1000 / middle;
}

/** From the keystroke in a box to the new shape on the wire, in the page's own clock. */
async function editToShape(page: Page): Promise<number> {
  const times: number[] = [];
  for (let edit = 0; edit < edits; edit += 1) {
    times.push(
      await page.evaluate(
        ([value, wanted]) =>
          new Promise<number>((done) => {
            const field = document.querySelector<HTMLInputElement>('[aria-label="strides of forward, D"]');
            const set = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')?.set;
            const start = performance.now();
            const watch = new MutationObserver(() => {
              if (![...document.querySelectorAll('.wire-label')].some((label) => label.textContent === wanted)) return;
              watch.disconnect();
              done(performance.now() - start);
            });
            watch.observe(document.body, { subtree: true, childList: true, characterData: true });
            set?.call(field, value);
            field?.dispatchEvent(new Event('input', { bubbles: true }));
          }),
        edit % 2 === 0 ? ['1', 'float [2,2,1,1,2]'] : ['4', 'float [2,1,1,1,2]'],
      ),
    );
  }
  return times.sort((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;
}

test('speed of the page', async ({ page, server, studio }) => {
  const start = performance.now();
  await page.goto(server.url);
  await page.getByRole('button', { name: 'Add block' }).click();
  await expect(page.getByRole('dialog')).toBeVisible();
  const first = performance.now() - start;
  await page.keyboard.press('Escape');
  await studio.openScene('Conv3DBackpropFilterV2');
  const shapes = await editToShape(page);
  const large = largePage();
  await page.evaluate((text) => {
    window.addEventListener('pagehide', () => localStorage.setItem('convgrad.studio.page', text));
  }, large);
  await page.reload();
  await expect(page.locator('.react-flow__node')).toHaveCount(blocks);
  await page.waitForTimeout(1500);
  const rate = await dragFrameRate(page);
  const rows = [
    ['page, kB gzip', bundleKilobytes().toFixed(1), '350 at most'],
    ['start to first answer of the page, ms', first.toFixed(0), '1000 at most'],
    [`frames a second, dragging one of ${blocks} blocks`, rate.toFixed(0), '30 at least'],
    ['edit to shape on the wire, ms (middle of 30)', shapes.toFixed(0), '50 at most'],
  ];
  console.log(`\n${rows.map(([name, value, wanted]) => `${name?.padEnd(48)}${value?.padStart(8)}   ${wanted}`).join('\n')}\n`);
});
