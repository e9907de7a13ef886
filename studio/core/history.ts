// Undo and redo by snapshots: pages share what a command leaves alone, so a snapshot costs what changed.
import { applyCommand, type Command } from './commands';
import type { Page } from './page';

export interface History {
  readonly past: readonly Page[];
  readonly present: Page;
  readonly future: readonly Page[];
  /** The text field or gesture whose changes are one step, and when it last changed. */
  readonly open?: { readonly key: string; readonly at: number };
}

const pause = 1200;
const depth = 500;

export function startHistory(page: Page): History {
  return { past: [], present: page, future: [] };
}

/** Commands with the same key and no pause between them are undone together, as keystrokes of one word are. */
export function record(history: History, commands: readonly Command[], key?: string, now = 0): History {
  const next = commands.reduce(applyCommand, history.present);
  if (next === history.present) return history;
  const joins = key !== undefined && history.open?.key === key && now - history.open.at < pause;
  const past = joins ? history.past : [...history.past, history.present].slice(-depth);
  const step = { past, present: next, future: [] };
  return key === undefined ? step : { ...step, open: { key, at: now } };
}

export function undo(history: History): History {
  const previous = history.past.at(-1);
  if (!previous) return history;
  return { past: history.past.slice(0, -1), present: previous, future: [history.present, ...history.future] };
}

export function redo(history: History): History {
  const [next, ...future] = history.future;
  if (!next) return history;
  return { past: [...history.past, history.present], present: next, future };
}
