// Autosave and recent files in the browser's own storage. Losing it must never stop the editor: all failures are silent here
// and seen by `save`'s answer.
import { type Page, readPage } from './page';

export interface Shelf {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
}

export interface Kept {
  readonly page: Page;
  readonly file: string | null;
  readonly stamp: string | null;
  readonly dirty: boolean;
}

const key = 'convgrad.studio.page';
const recentKey = 'convgrad.studio.recent';

/** False when the browser refuses (full or switched off): the caller then warns at closing. */
export function keep(shelf: Shelf, kept: Kept): boolean {
  try {
    shelf.setItem(key, JSON.stringify(kept));
    return true;
  } catch {
    return false;
  }
}

export function recover(shelf: Shelf): Kept | undefined {
  try {
    const text = shelf.getItem(key);
    if (!text) return undefined;
    const kept = JSON.parse(text) as Partial<Kept>;
    return { page: readPage(kept.page), file: kept.file ?? null, stamp: kept.stamp ?? null, dirty: kept.dirty === true };
  } catch {
    return undefined;
  }
}

export function recentFiles(shelf: Shelf): readonly string[] {
  try {
    const list: unknown = JSON.parse(shelf.getItem(recentKey) ?? '[]');
    return Array.isArray(list) ? list.filter((name) => typeof name === 'string') : [];
  } catch {
    return [];
  }
}

export function rememberFile(shelf: Shelf, name: string): void {
  try {
    const others = recentFiles(shelf).filter((each) => each !== name);
    shelf.setItem(recentKey, JSON.stringify([name, ...others].slice(0, 8)));
  } catch {
    // The list of recent files is a comfort: without storage there is none.
  }
}
