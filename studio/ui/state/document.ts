// The page that is edited, its history and its file.
import { create } from 'zustand';
import type { Command } from '../../core/commands';
import { type History, record, redo, startHistory, undo } from '../../core/history';
import { emptyPage, type Page } from '../../core/page';

interface DocumentState {
  readonly history: History;
  readonly file: string | null;
  readonly stamp: string | null;
  readonly saved: Page;
}

export const useDocument = create<DocumentState>(() => ({
  history: startHistory(emptyPage),
  file: null,
  stamp: null,
  saved: emptyPage,
}));

export function currentPage(): Page {
  return useDocument.getState().history.present;
}

/** Changes with the same key become one step of undo, see core/history. */
export function change(commands: readonly Command[], key?: string): void {
  useDocument.setState(({ history }) => ({ history: record(history, commands, key, Date.now()) }));
}

export function undoChange(): void {
  useDocument.setState(({ history }) => ({ history: undo(history) }));
}

export function redoChange(): void {
  useDocument.setState(({ history }) => ({ history: redo(history) }));
}

export function openPage(page: Page, file: string | null, stamp: string | null, dirty = false): void {
  useDocument.setState({ history: startHistory(page), file, stamp, saved: dirty ? emptyPage : page });
}

export function markSaved(page: Page, file: string, stamp: string): void {
  useDocument.setState({ file, stamp, saved: page });
}

export function isDirty(state: DocumentState): boolean {
  return state.history.present !== state.saved;
}

export function usePage(): Page {
  return useDocument((state) => state.history.present);
}
