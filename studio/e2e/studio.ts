// The real server in an empty folder, one for all tests of a worker, and the page opened in it.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { test as base, expect, type Locator, type Page } from '@playwright/test';

const program = process.env.CONVGRAD_PROGRAM ?? resolve(import.meta.dirname, '../../build/release/cli/convgrad');

export interface Server {
  readonly url: string;
  readonly folder: string;
}

async function startServer(use: (server: Server) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'convgrad-studio-'));
  const child = spawn(program, ['studio', '--port', '0', '--no-open'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
    // The same on every machine: no GPU.
    env: { ...process.env, CONVGRAD_CUDA_DRIVER: '/nowhere/libcuda.so' },
  });
  const url = await new Promise<string>((found, failed) => {
    let text = '';
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      const match = /http:\/\/\S+/.exec(text);
      if (match) found(match[0]);
    });
    child.on('error', failed);
    child.on('exit', (code) => failed(new Error(`The studio ended with ${code}.`)));
  });
  await use({ url, folder });
  child.removeAllListeners('exit');
  const ended = new Promise((done) => child.on('exit', done));
  child.kill('SIGTERM');
  await ended;
  rmSync(folder, { recursive: true });
}

export const test = base.extend<{ studio: Studio }, { server: Server }>({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of what a fixture needs from this pattern
  server: [({}, use) => startServer(use), { scope: 'worker' }],
  studio: async ({ page, server }, use) => {
    const problems: string[] = [];
    page.on('pageerror', (error) => problems.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error' && !/status of 4\d\d/.test(message.text())) problems.push(message.text());
    });
    await page.goto(server.url);
    await expect(page.getByRole('region', { name: 'Canvas' })).toBeVisible();
    await use(new Studio(page));
    expect(problems).toEqual([]);
  },
});

/** What a person sees and does, in words of the page. */
export class Studio {
  constructor(readonly page: Page) {}

  block(name: string): Locator {
    return this.page.locator(`.react-flow__node[data-id="${name}"]`);
  }

  input(block: string, pin: string): Locator {
    return this.block(block).locator(`.react-flow__handle.target[data-handleid="${pin}"]`);
  }

  output(block: string, pin = 'output'): Locator {
    return this.block(block).locator(`.react-flow__handle.source[data-handleid="${pin}"]`);
  }

  async run(): Promise<void> {
    await this.page.keyboard.press('Control+Enter');
    await this.settled();
  }

  async settled(): Promise<void> {
    await expect(this.page.locator('[data-run="done"]')).toBeVisible();
  }

  async openScene(title: string): Promise<void> {
    await this.page.getByRole('button', { name: 'Gallery', exact: true }).click();
    await this.page.locator('.scene', { has: this.page.locator('.scene-title').getByText(title, { exact: true }) }).click();
    await expect(this.page.getByRole('dialog')).toHaveCount(0);
  }

  /** What the read-out of a block says first. */
  readout(block: string): Locator {
    return this.block(block).locator('.readout-values').first();
  }
}

export { expect };
