// What is open and chosen on the screen. None of it is in the file or in the history.
import { create } from 'zustand';
import { automatic, usableChoice } from '../../core/engines';
import type { OpTable } from '../../core/ops';
import type { Pin, Point } from '../../core/page';
import type { About } from '../api';

export type DialogName =
  | { readonly kind: 'search'; readonly at?: Point; readonly wire?: { readonly pin: Pin; readonly end: 'source' | 'target' } }
  | { readonly kind: 'connect'; readonly pin: Pin; readonly side: 'source' | 'target' }
  | { readonly kind: 'tensor'; readonly node: string; readonly attr: string }
  | { readonly kind: 'gallery' | 'files' | 'save' | 'export' | 'import' | 'differentiate' | 'loop' | 'engine' | 'keys' }
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
  /** What runs are computed by, see core/engines. */
  readonly engine: string;
  /** What a gallery page proposes for a loop. */
  readonly proposedLoop: { readonly steps: number; readonly watch: readonly Pin[] } | null;
  readonly theme: Theme;
  readonly palette: boolean;
  readonly inspector: boolean;
  readonly message: { readonly text: string; readonly bad: boolean } | null;
}

const themeKey = 'convgrad.studio.theme';
const engineKey = 'convgrad.studio.engine';

function stored(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

function store(key: string, value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch {
    // Without storage the choice holds until the page is closed.
  }
}

function storedTheme(): Theme {
  const theme = stored(themeKey);
  return theme === 'dark' || theme === 'light' ? theme : 'system';
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
  engine: automatic,
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
  store(themeKey, theme);
  useScreen.setState({ theme });
}

export function setEngine(engine: string): void {
  store(engineKey, engine);
  useScreen.setState({ engine });
}

/** What the server is, and the engine that was chosen before where its machine has it. */
export function setAbout(about: About): void {
  useScreen.setState({ about, engine: usableChoice(about.engines, stored(engineKey) ?? automatic) });
}

/** `system` follows the browser; the attribute is what the style sheets look at. */
export function applyTheme(theme: Theme): void {
  const dark = theme === 'system' ? !window.matchMedia('(prefers-color-scheme: light)').matches : theme === 'dark';
  document.documentElement.dataset.theme = dark ? 'dark' : 'light';
}
