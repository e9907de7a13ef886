import { defineConfig } from '@playwright/test';
import { browser } from './browser';

/** Not a test: it prints a table and asserts nothing. */
export default defineConfig({
  testDir: '.',
  testMatch: 'speed.bench.ts',
  outputDir: '../../build/studio/bench',
  workers: 1,
  timeout: 120_000,
  reporter: [['line']],
  use: { ...browser, viewport: { width: 1440, height: 900 } },
});
