// Pictures of what matters at two sizes in both themes, kept as build output to be looked at; and axe on each.
import { AxeBuilder } from '@axe-core/playwright';
import { expect, type Studio, test } from './studio';

const sizes = [
  { width: 1440, height: 900 },
  { width: 900, height: 700 },
];
const themes = ['dark', 'light'] as const;
const folder = '../build/studio/shots';

async function look(studio: Studio, name: string): Promise<void> {
  await studio.page.screenshot({ path: `${folder}/${name}.png` });
  if (!name.includes(String(sizes[0]?.width))) return;
  const { violations } = await new AxeBuilder({ page: studio.page }).analyze();
  expect(
    violations.map(({ id, nodes }) => [id, ...nodes.slice(0, 3).map((node) => node.html.slice(0, 160))]),
    name,
  ).toEqual([]);
}

for (const theme of themes) {
  for (const size of sizes) {
    const name = `${theme}-${size.width}`;
    test(`looks and is accessible: ${name}`, async ({ studio, page }) => {
      test.setTimeout(60_000);
      await page.setViewportSize(size);
      await page.mouse.move(size.width / 2, 60);
      await page.getByLabel('Theme').selectOption(theme);
      await look(studio, `${name}-empty`);
      await page.getByRole('button', { name: 'Gallery', exact: true }).click();
      await expect(page.locator('.scene').first()).toBeVisible();
      await look(studio, `${name}-gallery`);
      await page.keyboard.press('Escape');
      await page.getByRole('button', { name: 'Engine', exact: true }).click();
      await look(studio, `${name}-engine`);
      await page.keyboard.press('Escape');
      await studio.openScene('Conv3DBackpropFilterV2');
      await studio.run();
      await expect(studio.readout('filter_gradient')).toContainText('121040');
      await look(studio, `${name}-filter-gradient`);
      await studio.readout('filter_gradient').click();
      await expect(page.getByTestId('cell-value')).toHaveText('121040');
      await look(studio, `${name}-result`);
      await page.getByRole('button', { name: 'Explain this cell' }).click();
      await expect(page.getByTestId('explained-sum')).toHaveText('121040');
      await look(studio, `${name}-explain`);
      await page.getByRole('button', { name: 'Close the results' }).click();
      await page.getByRole('button', { name: 'Edit value of input', exact: true }).click();
      await look(studio, `${name}-tensor`);
    });
  }
}
