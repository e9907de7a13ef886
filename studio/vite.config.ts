import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vitest/config';

const outDir = resolve(import.meta.dirname, '../build/studio/dist');
/** What the first visit loads, in kB after gzip. */
const most = 350;

function bundleSize(): Plugin {
  return {
    name: 'bundle-size',
    apply: 'build',
    closeBundle() {
      const files = readdirSync(outDir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
      const bytes = files.map((entry) => gzipSync(readFileSync(resolve(entry.parentPath, entry.name))).length);
      const total = Math.round(bytes.reduce((a, b) => a + b, 0) / 100) / 10;
      console.log(`page: ${total} kB gzip of ${most} kB`);
      if (total > most) throw new Error(`The page is larger than ${most} kB.`);
    },
  };
}

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), bundleSize()],
  build: {
    outDir,
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1000,
    reportCompressedSize: false,
  },
  test: { include: ['core/**/*.test.ts'], environment: 'node' },
});
