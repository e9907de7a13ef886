import { defineConfig } from '@playwright/test';
import { browser } from './browser';

export default defineConfig({
  testDir: '.',
  testMatch: '*.spec.ts',
  outputDir: '../../build/studio/e2e',
  workers: 2,
  fullyParallel: true,
  timeout: 30_000,
  expect: { timeout: 8_000 },
  reporter: [['list']],
  use: { ...browser, viewport: { width: 1440, height: 900 }, screenshot: 'only-on-failure' },
});
