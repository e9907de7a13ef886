import type { PlaywrightTestOptions, PlaywrightWorkerOptions } from '@playwright/test';

/** The system's Chromium, without anything that would ask the network. */
export const browser: Partial<PlaywrightTestOptions & PlaywrightWorkerOptions> = {
  browserName: 'chromium',
  colorScheme: 'dark',
  permissions: ['clipboard-read', 'clipboard-write'],
  launchOptions: {
    executablePath: process.env.CONVGRAD_CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-background-networking', '--disable-component-update', '--disable-gpu'],
  },
};
