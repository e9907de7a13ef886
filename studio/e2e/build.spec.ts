// The page of the enuSpace documentation, built from nothing, by mouse and by keyboard alone.
import { expect, type Studio, test } from './studio';

async function dropBlock(studio: Studio, op: string, x: number, y: number): Promise<void> {
  const { page } = studio;
  await page.getByLabel('List of blocks').getByRole('button', { name: op, exact: true }).dragTo(page.locator('.canvas'), {
    targetPosition: { x, y },
  });
}

async function drawWire(studio: Studio, from: string, to: string, pin: string): Promise<void> {
  const start = await studio.output(from).boundingBox();
  const end = await studio.input(to, pin).boundingBox();
  if (!start || !end) throw new Error(`No pin to draw a wire from ${from} to ${to}.`);
  const { mouse } = studio.page;
  await mouse.move(start.x + start.width / 2, start.y + start.height / 2);
  await mouse.down();
  await mouse.move((start.x + end.x) / 2, (start.y + end.y) / 2, { steps: 4 });
  await mouse.move(end.x + end.width / 2, end.y + end.height / 2, { steps: 4 });
  await mouse.up();
}

test('by mouse: Conv3DBackpropFilterV2 from an empty canvas gives 121040', async ({ studio }) => {
  const { page } = studio;
  await dropBlock(studio, 'Const', 150, 60);
  await dropBlock(studio, 'Const', 150, 320);
  await dropBlock(studio, 'Conv3D', 480, 160);
  await dropBlock(studio, 'Conv3DBackpropFilterV2', 800, 60);
  for (const name of ['Const', 'Const_2']) {
    await page.getByRole('button', { name: `Edit value of ${name}`, exact: true }).click();
    await page.getByLabel('Shape', { exact: true }).fill('2,2,2,2,2');
    await page.getByLabel('Shape', { exact: true }).press('Enter');
    await page.getByRole('button', { name: 'Fill', exact: true }).click();
    await expect(page.getByTestId('element-count')).toContainText('32 of 32');
    await page.getByRole('button', { name: 'Done' }).click();
  }
  await drawWire(studio, 'Const', 'Conv3D', 'input');
  await drawWire(studio, 'Const_2', 'Conv3D', 'filter');
  await drawWire(studio, 'Const', 'Conv3DBackpropFilterV2', 'input');
  await drawWire(studio, 'Const_2', 'Conv3DBackpropFilterV2', 'filter_sizes');
  await drawWire(studio, 'Conv3D', 'Conv3DBackpropFilterV2', 'out_backprop');
  await expect(page.locator('.like-mark')).toHaveCount(1);
  for (const block of ['Conv3D', 'Conv3DBackpropFilterV2']) {
    for (const [letter, stride] of Object.entries({ D: '4', H: '3', W: '2' })) {
      await studio.block(block).getByLabel(`strides of ${block}, ${letter}`).fill(stride);
    }
  }
  await expect(page.locator('.wire-label', { hasText: 'float [2,1,1,1,2]' })).toHaveCount(1);
  await page.getByRole('button', { name: 'Run', exact: false }).first().click();
  await studio.settled();
  await expect(studio.readout('Conv3DBackpropFilterV2')).toContainText('121040');
  await studio.readout('Conv3DBackpropFilterV2').click();
  await expect(page.getByTestId('cell-value')).toHaveText('121040');
});

test('by keyboard alone: the same page, the same number', async ({ studio }) => {
  const { page } = studio;
  const { keyboard } = page;
  const place = async (op: string): Promise<void> => {
    await keyboard.press('Control+k');
    await keyboard.type(op);
    await keyboard.press('Enter');
    await expect(page.getByRole('dialog')).toHaveCount(0);
  };
  /** Tab until the keyboard is on what has this name; it must come within a few presses. */
  const tabTo = async (name: string | RegExp): Promise<void> => {
    for (let presses = 0; presses < 60; presses += 1) {
      await keyboard.press('Tab');
      const label = await page.evaluate(
        () => document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent ?? '',
      );
      if (typeof name === 'string' ? label === name : name.test(label)) return;
    }
    throw new Error(`The keyboard does not reach ${name}.`);
  };
  const connect = async (target: string): Promise<void> => {
    await keyboard.press('Enter');
    await keyboard.type(target);
    await keyboard.press('Enter');
    await expect(page.getByRole('dialog')).toHaveCount(0);
  };
  for (const name of ['Const', 'Const_2']) {
    await place('Const');
    await tabTo(`Edit value of ${name}`);
    await keyboard.press('Enter');
    await tabTo('Shape');
    await keyboard.press('Control+a');
    await keyboard.type('2 2 2 2 2');
    await keyboard.press('Enter');
    await tabTo('Fill');
    await keyboard.press('Enter');
    await expect(page.getByTestId('element-count')).toContainText('32 of 32');
    await keyboard.press('Escape');
  }
  for (const block of ['Conv3D', 'Conv3DBackpropFilterV2']) {
    await place(block);
    await tabTo(`Input input of ${block}: connect from`);
    await connect('Const . output');
    const second = block === 'Conv3D' ? 'filter' : 'filter_sizes';
    await tabTo(`Input ${second} of ${block}: connect from`);
    await connect('Const_2 . output');
    if (block !== 'Conv3D') {
      await tabTo(`Input out_backprop of ${block}: connect from`);
      await connect('Conv3D . output');
    }
    for (const [letter, stride] of Object.entries({ D: '4', H: '3', W: '2' })) {
      await tabTo(`strides of ${block}, ${letter}`);
      await keyboard.type(stride);
    }
  }
  await keyboard.press('Control+Enter');
  await studio.settled();
  await tabTo(/^Result output of Conv3DBackpropFilterV2: 121040/);
  await keyboard.press('Enter');
  await expect(page.getByTestId('cell-value')).toHaveText('121040');
});
