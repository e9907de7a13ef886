// What is open and chosen on the screen. None of it is in the file or in the history.
import { create } from 'zustand';
import type { OpTable } from '../../core/ops';
import type { Pin, Point } from '../../core/page';
import type { About } from '../api';

export type DialogName =
  | { readonly kind: 'search'; readonly at?: Point; readonly wire?: { readonly pin: Pin; readonly end: 'source' | 'target' } }
  | { readonly kind: 'connect'; readonly pin: Pin; readonly side: 'source' | 'target' }
  | { readonly kind: 'tensor'; readonly node: string; readonly attr: string }
  | { readonly kind: 'gallery' | 'files' | 'save' | 'export' | 'import' | 'differentiate' | 'loop' | 'keys' }
  | { readonly kind: 'help'; readonly op: string };

export type DrawerTab = 'result' | 'explain' | 'loss' | 'problems';
export type Theme = 'system' | 'dark' | 'light';

interface ScreenState {
  readonly table: OpTable;
  readonly about: About | null;
  readonly selected: readonly string[];
  readonly dialog: DialogName | null;
  readonly drawer: DrawerTab | null;
  readonly shown: Pin | null;
  /** The cell of the shown tensor that the explain view is about. */
  readonly explained: readonly number[];
  readonly autoRun: boolean;
  /** What a gallery page proposes for a loop. */
  readonly proposedLoop: { readonly steps: number; readonly watch: readonly Pin[] } | null;
  readonly theme: Theme;
  readonly palette: boolean;
  readonly inspector: boolean;
  readonly message: { readonly text: string; readonly bad: boolean } | null;
}

const themeKey = 'convgrad.studio.theme';

function storedTheme(): Theme {
  try {
    const theme = localStorage.getItem(themeKey);
    return theme === 'dark' || theme === 'light' ? theme : 'system';
  } catch {
    return 'system';
  }
}

const wide = window.matchMedia('(min-width: 1100px)').matches;

export const useScreen = create<ScreenState>(() => ({
  table: { ops: [], types: [] },
  about: null,
  selected: [],
  dialog: null,
  drawer: null,
  shown: null,
  explained: [],
  autoRun: false,
  proposedLoop: null,
  theme: storedTheme(),
  palette: wide,
  inspector: wide,
  message: null,
}));

export function openDialog(dialog: DialogName): void {
  useScreen.setState({ dialog });
}

export function closeDialog(): void {
  useScreen.setState({ dialog: null });
}

export function select(ids: readonly string[]): void {
  const { selected } = useScreen.getState();
  if (ids.length !== selected.length || ids.some((id, place) => id !== selected[place])) useScreen.setState({ selected: ids });
}

export function show(pin: Pin, drawer: DrawerTab = 'result'): void {
  useScreen.setState({ shown: pin, drawer });
}

/** One sentence at the foot of the page, read out by screen readers. */
export function say(text: string, bad = false): void {
  useScreen.setState({ message: { text, bad } });
}

export function setTheme(theme: Theme): void {
  try {
    localStorage.setItem(themeKey, theme);
  } catch {
    // Without storage the choice holds until the page is closed.
  }
  useScreen.setState({ theme });
}

/** `system` follows the browser; the attribute is what the style sheets look at. */
export function applyTheme(theme: Theme): void {
  const dark = theme === 'system' ? !window.matchMedia('(prefers-color-scheme: light)').matches : theme === 'dark';
  document.documentElement.dataset.theme = dark ? 'dark' : 'light';
}
