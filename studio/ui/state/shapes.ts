// What the library says of the page while it is edited: types and shapes of outputs, and what it refuses.
import { create } from 'zustand';
import { type KnownTypes, pinKey } from '../../core/fits';
import { meaning, type Page } from '../../core/page';
import { api, type Inferred, type OutputShape, Refusal, type Refused } from '../api';

interface ShapesState {
  readonly outputs: ReadonlyMap<string, OutputShape>;
  readonly errors: ReadonlyMap<string, Refused>;
  /** Refusals of the page as a whole: a cycle, a name twice, a text that is no page. */
  readonly general: readonly Refused[];
  readonly milliseconds: number;
  readonly busy: boolean;
}

export const useShapes = create<ShapesState>(() => ({
  outputs: new Map(),
  errors: new Map(),
  general: [],
  milliseconds: 0,
  busy: false,
}));

export function knownTypes(): KnownTypes {
  return new Map(Array.from(useShapes.getState().outputs, ([key, output]) => [key, output.dtype]));
}

function take(inferred: Inferred, milliseconds: number): void {
  const outputs = new Map<string, OutputShape>();
  const errors = new Map<string, Refused>();
  for (const node of inferred.nodes) {
    for (const output of node.outputs) outputs.set(pinKey([node.id, output.pin]), output);
    if (node.error) errors.set(node.id, node.error);
  }
  const general = inferred.errors.filter((error) => !error.node || !errors.has(error.node));
  for (const error of inferred.errors) if (error.node && error.fix) errors.set(error.node, error);
  useShapes.setState({ outputs, errors, general, milliseconds, busy: false });
}

let asked: AbortController | undefined;

/** Each edit asks at once and drops the answer to the edit before it. */
export async function inferShapes(page: Page): Promise<void> {
  asked?.abort();
  const mine = new AbortController();
  asked = mine;
  useShapes.setState({ busy: true });
  const start = performance.now();
  try {
    const inferred = await api.infer(meaning(page), mine.signal);
    if (!mine.signal.aborted) take(inferred, performance.now() - start);
  } catch (error) {
    if (mine.signal.aborted) return;
    const refused = error instanceof Refusal ? error.refused : { message: String(error) };
    const errors = new Map(refused.node ? [[refused.node, refused]] : []);
    useShapes.setState({ outputs: new Map(), errors, general: refused.node ? [] : [refused], busy: false });
  }
}
