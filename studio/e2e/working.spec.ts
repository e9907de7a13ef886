// Running, tensors, copying and the exchange with enuSpace.
import { expect, test } from './studio';

const scene = 'Conv3DBackpropFilterV2';

test('with Auto on, an edit runs what depends on it and keeps the rest', async ({ studio }) => {
  const { page } = studio;
  await studio.openScene(scene);
  await page.getByLabel('Auto').check();
  await expect(studio.readout('filter_gradient')).toContainText('121040');
  for (const block of ['forward', 'filter_gradient']) await studio.block(block).getByLabel(`strides of ${block}, W`).fill('1');
  await expect(studio.readout('filter_gradient')).not.toContainText('121040');
  await expect(studio.block('input').locator('.readout-cost')).toContainText('kept');
});

test('a run by the chosen engine has the same number and says which engine it was', async ({ studio }) => {
  const { page } = studio;
  const cost = studio.block('filter_gradient').locator('.readout-cost');
  await studio.openScene(scene);
  await studio.run();
  await expect(studio.readout('filter_gradient')).toContainText('121040');
  await expect(cost).toContainText('cpu');
  await page.getByRole('button', { name: 'Engine', exact: true }).click();
  await expect(page.getByRole('radio', { name: 'automatic' })).toBeChecked();
  await page.getByRole('radio', { name: 'reference' }).check();
  await expect(page.locator('.status')).toContainText('results are of another choice of engine');
  await page.getByRole('dialog').getByRole('button', { name: 'Run', exact: true }).click();
  await expect(cost).toContainText('reference');
  await expect(studio.readout('filter_gradient')).toContainText('121040');
  await expect(page.locator('[data-run="done"]')).toContainText('by reference');
  await studio.readout('filter_gradient').click();
  await page.getByRole('button', { name: 'Explain this cell' }).click();
  await expect(page.getByTestId('explained-sum')).toHaveText('121040');
  await expect(page.getByTestId('explained-engine')).toHaveText('by reference');
  await page.reload();
  await expect(page.getByRole('button', { name: 'Engine: reference' })).toBeVisible();
});

test('an engine that cannot run here is shown with the reason and cannot be chosen', async ({ studio }) => {
  const { page } = studio;
  const { origin } = new URL(page.url());
  const about = await (await page.request.get(`${origin}/api/about`)).json();
  const engines = about.engines as readonly { name: string; obstacle: string }[];
  expect(engines.filter(({ obstacle }) => obstacle !== '').map(({ name }) => name)).toEqual(['cuda']);
  await page.getByRole('button', { name: 'Engine', exact: true }).click();
  await expect(page.getByRole('radio')).toHaveCount(engines.length + 1);
  for (const { name, obstacle } of engines) {
    const radio = page.getByRole('radio', { name, exact: true });
    await expect(radio).toBeEnabled({ enabled: obstacle === '' });
    if (obstacle === '') continue;
    await expect(page.locator('.engine', { has: radio })).toHaveAttribute('title', obstacle);
    await expect(page.locator('.engine', { has: radio })).toContainText(`cannot run here: ${obstacle}`);
  }
});

test('a loop is stopped by its button', async ({ studio }) => {
  const { page } = studio;
  await studio.openScene('Train a small network');
  await page.getByRole('button', { name: 'Loop', exact: true }).click();
  await page.getByLabel('Steps').fill('1000000');
  await page.getByRole('button', { name: 'Start', exact: true }).click();
  await expect(page.locator('.loss-last')).toContainText('loss');
  await page.locator('.loss-head').getByRole('button', { name: 'Stop' }).click();
  await expect(page.locator('[data-run="done"]')).toHaveText('Stopped');
});

test('a loop started before the shapes have come still draws its loss', async ({ studio }) => {
  const { page } = studio;
  await page.route('**/api/infer', async (route) => {
    await new Promise((later) => setTimeout(later, 500));
    await route.continue();
  });
  await studio.openScene('Train a small network');
  await page.getByRole('button', { name: 'Loop', exact: true }).click();
  await page.getByRole('button', { name: 'Start', exact: true }).click();
  await expect(page.locator('.loss-last')).toContainText('loss');
});

test('the tensor editor takes pasted braces and typed cells, and undo works in it', async ({ studio }) => {
  const { page } = studio;
  await page.keyboard.press('Control+k');
  await page.keyboard.type('Const');
  await page.keyboard.press('Enter');
  await studio.block('Const').getByRole('button', { name: 'Edit value of Const' }).click();
  await page.evaluate(() => navigator.clipboard.writeText('{{1, 2.5f}, {3, -4}, {nan, 6}}'));
  await page.keyboard.press('Control+v');
  await expect(page.getByTestId('element-count')).toContainText('6 of 6');
  await page.keyboard.press('ArrowRight');
  await expect(page.getByLabel('Element 0, 1')).toHaveValue('2.5');
  await page.keyboard.type('7');
  await expect(page.getByLabel('Element 0, 1')).toHaveValue('7');
  await page.keyboard.press('Control+z');
  await expect(page.getByLabel('Element 0, 1')).toHaveValue('2.5');
  await page.keyboard.press('Escape');
  await studio.run();
  await expect(studio.readout('Const')).toContainText('1  2.5  3  -4');
  await studio.readout('Const').click();
  await expect(page.locator('.result-side .warn')).toContainText('1');
});

test('blocks are copied as text, pasted with new names, and run', async ({ studio }) => {
  const { page } = studio;
  await studio.openScene(scene);
  await page.locator('.react-flow__pane').click({ position: { x: 500, y: 20 } });
  await page.keyboard.press('Control+a');
  await page.keyboard.press('Control+c');
  await page.keyboard.press('Control+v');
  await expect(studio.block('filter_gradient_2')).toBeVisible();
  const copied: { nodes: unknown[] } = JSON.parse(await page.evaluate(() => navigator.clipboard.readText()));
  expect(copied.nodes).toHaveLength(5);
  await page.keyboard.press('Control+z');
  await expect(studio.block('filter_gradient_2')).toHaveCount(0);
});

test('blocks are cut and pasted somewhere else', async ({ studio }) => {
  const { page } = studio;
  await studio.openScene(scene);
  await page.locator('.react-flow__pane').click({ position: { x: 500, y: 20 } });
  await page.evaluate(() => navigator.clipboard.writeText('no blocks'));
  await page.keyboard.press('Control+a');
  await page.keyboard.press('Control+x');
  await expect(studio.block('filter_gradient')).toHaveCount(0);
  await page.keyboard.press('Control+v');
  await expect(studio.block('filter_gradient')).toBeVisible();
  await studio.run();
  await expect(studio.readout('filter_gradient')).toContainText('121040');
});

test('an exported enuSpace page is imported again and has the same number', async ({ studio }) => {
  const { page } = studio;
  await studio.openScene(scene);
  await page.keyboard.press('Control+e');
  await page.getByLabel('enuSpace', { exact: true }).check();
  await expect(page.getByLabel('Exported text')).toHaveValue(/symbol-name/);
  const saved = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Save to a file' }).click();
  const path = await (await saved).path();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Export' }).click();
  await page.getByRole('button', { name: 'Import an enuSpace page' }).click();
  await page.getByLabel(/^Page/).setInputFiles(path);
  await page.getByRole('button', { name: 'Import', exact: true }).click();
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await expect(page.locator('.unsaved')).toBeVisible();
  await studio.run();
  await expect(studio.readout('filter_gradient')).toContainText('121040');
});

test('the canvas is saved as SVG and PNG', async ({ studio }) => {
  const { page } = studio;
  await studio.openScene(scene);
  for (const form of ['SVG', 'PNG']) {
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export' }).click();
    await page.getByRole('button', { name: `Save the drawing as ${form}` }).click();
    expect((await saved).suggestedFilename()).toBe(`page.${form.toLowerCase()}`);
    await (await saved).saveAs(`../build/studio/shots/drawing.${form.toLowerCase()}`);
  }
});

test('a block is moved by the arrow keys, and undo brings it back', async ({ studio }) => {
  const { page } = studio;
  await studio.openScene(scene);
  await page.waitForTimeout(400);
  const block = studio.block('forward');
  const left = async (): Promise<number> => (await block.boundingBox())?.x ?? 0;
  const start = await left();
  await block.focus();
  await page.keyboard.press('Enter');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  await expect.poll(left).toBeGreaterThan(start + 5);
  await page.keyboard.press('Control+z');
  await expect.poll(left).toBeCloseTo(start, 0);
});

test('layout is one step of undo', async ({ studio }) => {
  const { page } = studio;
  await studio.openScene(scene);
  await page.waitForTimeout(400);
  const places = (): Promise<string[]> =>
    page.locator('.react-flow__node').evaluateAll((nodes) => nodes.map((node) => (node as HTMLElement).style.transform));
  const drag = await studio.block('input').boundingBox();
  if (!drag) throw new Error('The block is not drawn.');
  await page.mouse.move(drag.x + 60, drag.y + 6);
  await page.mouse.down();
  await page.mouse.move(drag.x + 200, drag.y + 90, { steps: 4 });
  await page.mouse.up();
  const moved = await places();
  await page.getByRole('button', { name: 'Arrange' }).click();
  await page.getByRole('button', { name: 'Arrange the blocks' }).click();
  await expect.poll(places).not.toEqual(moved);
  await page.keyboard.press('Control+z');
  await expect.poll(places).toEqual(moved);
});
