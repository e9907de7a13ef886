// Runs: one at a time, its results by node, and the numbers of a loop.
import { create } from 'zustand';
import { automatic } from '../../core/engines';
import { meaning, type Page, type Pin } from '../../core/page';
import { api, type DoneEvent, type NodeEvent, Refusal, type Refused, type StepEvent } from '../api';
import { useScreen } from './screen';

export interface Loop {
  readonly watch: readonly Pin[];
  readonly steps: readonly number[];
  readonly values: readonly StepEvent['watch'][];
  readonly of: number;
}

interface RunsState {
  /** The run whose tensors can be asked for. */
  readonly run: string | null;
  readonly state: 'none' | 'running' | 'done';
  readonly nodes: ReadonlyMap<string, NodeEvent>;
  readonly done: DoneEvent | null;
  readonly refused: Refused | null;
  readonly loop: Loop | null;
  /** The page that the results are of: results of an older one are marked. */
  readonly page: Page | null;
  /** The choice that they were computed by. */
  readonly engine: string;
}

const nothing: RunsState = {
  run: null,
  state: 'none',
  nodes: new Map(),
  done: null,
  refused: null,
  loop: null,
  page: null,
  engine: automatic,
};
export const useRuns = create<RunsState>(() => nothing);

const mostFailures = 3;
const unanswered: DoneEvent = {
  ok: false,
  seconds: 0,
  peak_bytes: 0,
  cancelled: false,
  error: { message: 'The studio does not answer.' },
};

let stream: EventSource | undefined;
let starts = 0;

function onStep(event: StepEvent): void {
  useRuns.setState(({ loop }) =>
    loop ? { loop: { ...loop, steps: [...loop.steps, event.step], values: [...loop.values, event.watch], of: event.of } } : {},
  );
}

/** Nodes come in quick succession: they are shown once a frame. */
function nodeBuffer(): { add(event: NodeEvent): void; flush(): void } {
  let waiting: NodeEvent[] = [];
  let frame = 0;
  const flush = (): void => {
    cancelAnimationFrame(frame);
    frame = 0;
    const arrived = waiting;
    waiting = [];
    if (arrived.length === 0) return;
    useRuns.setState(({ nodes }) => ({ nodes: new Map([...nodes, ...arrived.map((event) => [event.id, event] as const)]) }));
  };
  return {
    add(event) {
      waiting.push(event);
      frame ||= requestAnimationFrame(flush);
    },
    flush,
  };
}

function listen(run: string): Promise<void> {
  return new Promise((resolve) => {
    const source = api.events(run);
    stream = source;
    const nodes = nodeBuffer();
    let failures = 0;
    const end = (done: DoneEvent): void => {
      source.close();
      if (stream !== source) return resolve();
      nodes.flush();
      useRuns.setState({ state: 'done', done, refused: done.error ?? null });
      resolve();
    };
    source.addEventListener('node', (event: MessageEvent<string>) => {
      failures = 0;
      if (stream === source) nodes.add(JSON.parse(event.data) as NodeEvent);
    });
    source.addEventListener('step', (event: MessageEvent<string>) => {
      failures = 0;
      if (stream === source) onStep(JSON.parse(event.data) as StepEvent);
    });
    source.addEventListener('done', (event: MessageEvent<string>) => end(JSON.parse(event.data) as DoneEvent));
    // The browser opens a broken stream again and goes on where it was; only a server that stays away ends the run here.
    source.addEventListener('error', () => {
      failures += 1;
      if (source.readyState === EventSource.CLOSED || failures > mostFailures) end(unanswered);
    });
  });
}

/** Resolves when the run is over, whatever its end. A new run takes the place of one that goes on. */
export async function startRun(page: Page, loop?: { steps: number; watch: readonly Pin[] }): Promise<void> {
  stream?.close();
  starts += 1;
  const mine = starts;
  const fresh: Loop | null = loop ? { watch: loop.watch, steps: [], values: [], of: loop.steps } : null;
  const { engine } = useScreen.getState();
  useRuns.setState({ state: 'running', done: null, refused: null, page, engine, loop: fresh });
  try {
    const { run } = await api.run(meaning(page), engine, loop);
    if (mine !== starts) return;
    useRuns.setState({ run, nodes: new Map() });
    await listen(run);
  } catch (error) {
    if (mine !== starts) return;
    const refused = error instanceof Refusal ? error.refused : { message: String(error) };
    useRuns.setState({ ...nothing, state: 'done', refused });
  }
}

export async function stopRun(): Promise<void> {
  const { run, state } = useRuns.getState();
  if (run && state === 'running') await api.cancel(run).catch(() => undefined);
}

export function forgetRuns(): void {
  stream?.close();
  starts += 1;
  useRuns.setState(nothing);
}
