// Every gallery page opens, runs in the real engine, and its numbers are those that it says.
import { expect, type Studio, test } from './studio';

interface Scene {
  readonly expect: readonly { readonly node: string; readonly pin: string; readonly data: readonly string[] }[];
  readonly loop?: { readonly steps: number; readonly watch: readonly (readonly string[])[]; readonly below: readonly number[] };
}

/** Runs the scene's loop to its end; the numbers that it draws must have come below those that the scene says. */
async function checkLoop(studio: Studio, { steps, below }: NonNullable<Scene['loop']>): Promise<void> {
  const { page } = studio;
  await page.getByRole('button', { name: 'Loop', exact: true }).click();
  await page.getByRole('button', { name: 'Start', exact: true }).click();
  await expect(page.getByTestId('loop-step')).toHaveText(`step ${steps} of ${steps}`, { timeout: 60_000 });
  await studio.settled();
  for (const [place, limit] of below.entries()) {
    const text = await page.locator('.loss-last b').nth(place).textContent();
    expect(Number(text)).toBeLessThan(limit);
  }
}

test('every gallery page runs and has its numbers', async ({ studio }) => {
  test.setTimeout(120_000);
  const { page } = studio;
  const { origin } = new URL(page.url());
  const get = async <T>(path: string): Promise<T> => (await (await page.request.get(`${origin}${path}`)).json()) as T;
  const scenes = await get<readonly { id: string; title: string }[]>('/api/gallery');
  expect(scenes.length).toBeGreaterThanOrEqual(10);
  for (const { id, title } of scenes) {
    const scene = await get<Scene>(`/api/gallery/${id}`);
    expect(scene.expect.length + (scene.loop ? 1 : 0), `${id} says its numbers`).toBeGreaterThan(0);
    await studio.openScene(title);
    const answered = page.waitForResponse((response) => response.url().endsWith('/api/run'));
    if (scene.loop) await checkLoop(studio, scene.loop);
    else await studio.run();
    const { run } = (await (await answered).json()) as { run: string };
    for (const { node, pin, data } of scene.expect) {
      const query = new URLSearchParams({ node, pin, limit: String(data.length) });
      const tensor = await get<{ data: readonly string[] }>(`/api/runs/${run}/tensor?${query}`);
      expect(tensor.data, `${id}: ${node}.${pin}`).toEqual(data);
      // The first number stands on the block too, where a person reads it.
      await expect(studio.readout(node), `${id}: read-out of ${node}`).toContainText(data[0] ?? '');
    }
  }
});
