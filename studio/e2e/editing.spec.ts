import { expect, type Studio, test } from './studio';

const scene = 'Conv3DBackpropFilterV2';

async function opened(studio: Studio): Promise<void> {
  await studio.openScene(scene);
  await expect(studio.block('filter_gradient')).toBeVisible();
}

test('an error stands at its pin in the words of the library, and is gone when mended', async ({ studio }) => {
  await opened(studio);
  const block = studio.block('filter_gradient');
  await block.getByLabel('strides of filter_gradient, D').fill('0');
  const error = block.locator('.pin-error');
  await expect(error).toContainText(/stride/i);
  await expect(block.locator('.typed-row.bad .typed-label')).toHaveText('strides');
  await expect(studio.page.locator('.status-problems')).toContainText('1 to mend');
  await block.getByLabel('strides of filter_gradient, D').fill('4');
  await expect(error).toHaveCount(0);
});

test('a wrong shape marks the very pin, and the parts that do not depend on it still run', async ({ studio }) => {
  await opened(studio);
  await studio.block('filter_gradient').getByLabel('strides of filter_gradient, D').fill('1');
  await expect(studio.input('filter_gradient', 'out_backprop')).toHaveClass(/bad/);
  await expect(studio.block('filter_gradient').locator('.pin-error')).toContainText('out_backprop');
  await studio.run();
  await expect(studio.readout('forward')).toContainText('2856');
});

test('undo and redo reach everything, text fields included', async ({ studio }) => {
  const { page } = studio;
  await opened(studio);
  const stride = studio.block('forward').getByLabel('strides of forward, D');
  await stride.fill('2');
  await page.keyboard.press('Control+z');
  await expect(stride).toHaveValue('4');
  await page.keyboard.press('Control+Shift+z');
  await expect(stride).toHaveValue('2');
  await page.keyboard.press('Control+z');
  await studio.block('filter').click({ position: { x: 40, y: 12 } });
  await page.keyboard.press('Delete');
  await expect(studio.block('filter')).toHaveCount(0);
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(studio.block('filter')).toHaveCount(1);
  await expect(page.locator('.react-flow__edge')).toHaveCount(6);
});

test('a reload keeps the work, with its mark of being unsaved', async ({ studio }) => {
  const { page } = studio;
  await opened(studio);
  await studio.block('forward').getByLabel('Name of block forward').fill('conv');
  await page.keyboard.press('Enter');
  await expect(studio.block('conv')).toBeVisible();
  await expect(page).toHaveTitle(/^\u25cf /);
  await page.waitForTimeout(600);
  await page.reload();
  await expect(studio.block('conv')).toBeVisible();
  await expect(page.locator('.unsaved')).toBeVisible();
});

test('a page is saved in the folder, opened again, and runs there', async ({ studio }) => {
  const { page } = studio;
  await opened(studio);
  await page.keyboard.press('Control+s');
  await page.getByLabel(/^Name, in/).fill('mine');
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  await expect(page.locator('.file-text')).toHaveText('mine.json');
  await expect(page.locator('.unsaved')).toHaveCount(0);
  await studio.openScene('Conv2D');
  await page.keyboard.press('Control+o');
  await page.getByRole('button', { name: /^mine\.json/ }).click();
  await expect(studio.block('filter_gradient')).toBeVisible();
  await studio.run();
  await expect(studio.readout('filter_gradient')).toContainText('121040');
});

test('a link holds the page', async ({ studio, browser, server }) => {
  const { page } = studio;
  await opened(studio);
  await page.getByRole('button', { name: 'Export' }).click();
  await page.getByRole('button', { name: 'Copy a link with the page in it' }).click();
  await expect(page.getByRole('status')).toContainText('A link');
  const link = await page.evaluate(() => navigator.clipboard.readText());
  const other = await browser.newPage();
  await other.goto(server.url);
  await expect(other.locator('.canvas')).toBeVisible();
  await other.goto(link);
  await expect(other.locator('.react-flow__node[data-id="filter_gradient"]')).toBeVisible();
  await other.close();
});

test('the explain view names the products of a cell, by arrow keys too', async ({ studio }) => {
  const { page } = studio;
  await opened(studio);
  await studio.run();
  await studio.readout('filter_gradient').click();
  await page.getByRole('button', { name: 'Explain this cell' }).click();
  await expect(page.getByTestId('explained-sum')).toHaveText('121040');
  await expect(page.locator('.sum-line')).toContainText('1 \u00d7 2856 + 17 \u00d7 6952');
  await expect(page.locator('.tone-a td.fed')).toHaveText(['1', '17']);
  await expect(page.locator('.tone-b td.fed')).toHaveText(['2856', '6952']);
  await page.getByRole('group', { name: /^Result of filter_gradient/ }).focus();
  await page.keyboard.press('ArrowRight');
  await expect(page.getByTestId('explained-sum')).toHaveText('140656');
});

test('a wire dropped on the canvas offers the blocks that fit and wires the chosen one', async ({ studio }) => {
  const { page } = studio;
  await page.keyboard.press('Control+k');
  await page.keyboard.type('Const');
  await page.keyboard.press('Enter');
  await expect(studio.block('Const')).toBeVisible();
  const start = await studio.output('Const').boundingBox();
  if (!start) throw new Error('The block has no output.');
  await page.mouse.move(start.x + 6, start.y + 6);
  await page.mouse.down();
  await page.mouse.move(start.x + 120, start.y + 160, { steps: 5 });
  await page.mouse.up();
  await expect(page.getByRole('dialog', { name: 'Blocks that fit Const.output' })).toBeVisible();
  await expect(page.getByRole('option', { name: /^ApplyAdam/ })).toHaveCount(1);
  await expect(page.getByRole('option', { name: /^InvertPermutation/ })).toHaveCount(0);
  await page.keyboard.type('Relu');
  await page.keyboard.press('Enter');
  await expect(
    page
      .getByRole('button', { name: 'Wire from Const output to Relu features' })
      .or(page.getByLabel('Wire from Const output to Relu features')),
  ).toHaveCount(1);
});

test('texts of enuSpace are taken by paste, and a wrong name is said', async ({ studio }) => {
  const { page } = studio;
  await opened(studio);
  const block = studio.block('forward');
  const paste = async (text: string): Promise<void> => {
    await page.evaluate((value) => navigator.clipboard.writeText(value), text);
    await block.getByLabel('strides of forward, D').focus();
    await page.keyboard.press('Control+v');
  };
  await paste('1,2,1,1,1');
  await expect(block.getByLabel('strides of forward, D')).toHaveValue('2');
  await paste('data_format_ = NCDHW;');
  await expect(block.getByLabel('data_format of forward')).toHaveValue('NCDHW');
  await paste('dialtions_ = {1,1,1,1};');
  await expect(page.getByRole('status').first()).toContainText('no attribute "dialtions_"');
});

test('a wrong data_format is refused at its pin, and the fix mends it', async ({ studio }) => {
  const { page } = studio;
  await opened(studio);
  const block = studio.block('forward');
  await page.evaluate(() => navigator.clipboard.writeText('data_format_ = NHWC;'));
  await block.getByLabel('strides of forward, D').focus();
  await page.keyboard.press('Control+v');
  await expect(block.locator('.typed-row.bad .typed-label')).toHaveText('data_format');
  await block.getByRole('button', { name: 'use NDHWC' }).click();
  await expect(page.locator('.status-problems')).toContainText('all shapes fit');
});

test('explicit paddings are a grid of before and after', async ({ studio }) => {
  await opened(studio);
  const block = studio.block('forward');
  await block.getByLabel('padding of forward').selectOption('EXPLICIT');
  await block.getByLabel('explicit_paddings of forward, D before').fill('1');
  await block.getByLabel('explicit_paddings of forward, D after').fill('5');
  await expect(studio.page.locator('.wire-label', { hasText: 'float [2,2,1,1,2]' })).toHaveCount(1);
});

test('a typed list at a sizes pin runs, and its box is gone when the pin is wired', async ({ studio }) => {
  const { page } = studio;
  await opened(studio);
  const block = studio.block('filter_gradient');
  await block.getByRole('button', { name: /^Input filter_sizes/ }).click();
  await page.keyboard.type('Remove');
  await page.keyboard.press('Enter');
  await block.getByRole('textbox', { name: 'filter_sizes of filter_gradient' }).fill('2,2,2,2,2');
  await studio.run();
  await expect(studio.readout('filter_gradient')).toContainText('121040');
  await block.getByRole('button', { name: /^Input filter_sizes/ }).click();
  await page.keyboard.type('filter . output');
  await page.keyboard.press('Enter');
  await expect(block.getByRole('textbox', { name: 'filter_sizes of filter_gradient' })).toHaveCount(0);
  await expect(page.locator('.like-mark')).toHaveCount(1);
});

test('differentiate inserts the gradient blocks, and a check compares them with differences', async ({ studio }) => {
  const { page } = studio;
  await studio.openScene('Conv3D');
  await page.keyboard.press('Control+d');
  await page.getByRole('button', { name: 'Check the gradient' }).click();
  await expect(page.getByRole('dialog').getByRole('status')).toContainText(
    'The gradient agrees with finite differences in double.',
  );
  await page.getByRole('button', { name: 'Insert the blocks' }).click();
  await expect(page.locator('.block h3').filter({ hasText: 'Conv3DBackpropFilterV2' })).toHaveCount(1);
  await expect(page.locator('.block h3').filter({ hasText: 'Conv3DBackpropInputV2' })).toHaveCount(1);
  await page.keyboard.press('Control+z');
  await expect(page.locator('.block h3').filter({ hasText: 'Conv3DBackpropFilterV2' })).toHaveCount(0);
});

test('every form of export has text or the reason why not', async ({ studio }) => {
  const { page } = studio;
  await opened(studio);
  await page.keyboard.press('Control+e');
  const text = page.getByLabel('Exported text');
  await expect(text).toHaveValue(/#include/);
  for (const style of ['C++, eager', 'Python, convgrad', 'Python, TensorFlow', 'Test case', 'Graphviz', 'enuSpace']) {
    await page.getByLabel(style, { exact: true }).check();
    await expect(text).toHaveValue(style === 'enuSpace' ? /symbol-name/ : /Conv3DBackpropFilterV2|conv3d_backprop_filter/i);
  }
});
