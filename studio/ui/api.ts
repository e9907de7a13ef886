// The door as docs/design/009-studio.md has it: one function a request, nothing decided here.
import type { Engine } from '../core/engines';
import type { OpTable } from '../core/ops';
import type { Element, Page, Pin } from '../core/page';

export interface FixCommand {
  readonly set?: readonly [node: string, attr: string, value: string | number | boolean | readonly number[]];
  readonly connect?: readonly [from: Pin, to: Pin];
}

export interface Refused {
  readonly code?: string;
  readonly rule?: string;
  readonly node?: string;
  readonly argument?: string;
  readonly got?: string;
  readonly wanted?: string;
  readonly message: string;
  readonly fix?: { readonly text: string; readonly commands: readonly FixCommand[] };
}

/** The library's sentence without the node's mark at its end: the page shows it at the node. */
export function sentence(error: Refused): string {
  return error.message.replace(/\s*\[\[\{\{node .*\}\}\]\]\s*$/, '');
}

export class Refusal extends Error {
  constructor(
    readonly refused: Refused,
    readonly status: number,
  ) {
    super(sentence(refused));
  }
}

export interface OutputShape {
  readonly pin: string;
  readonly dtype: string;
  readonly shape: readonly number[] | null;
}

export interface Inferred {
  readonly ok: boolean;
  readonly nodes: readonly {
    readonly id: string;
    readonly op: string;
    readonly ok: boolean;
    readonly outputs: readonly OutputShape[];
    readonly error?: Refused;
  }[];
  readonly errors: readonly Refused[];
}

export interface Stats {
  readonly min: number | string | null;
  readonly max: number | string | null;
  readonly mean: number | string | null;
  readonly nan: number;
  readonly inf: number;
  readonly count: number;
  readonly histogram?: { readonly from: number; readonly to: number; readonly counts: readonly number[] } | null;
}

export interface NodeEvent {
  readonly id: string;
  readonly ok: boolean;
  readonly seconds: number;
  readonly bytes: number;
  readonly reused: boolean;
  /** What computed it; convolutions only. */
  readonly engine?: string;
  readonly outputs: readonly (OutputShape & {
    readonly shape: readonly number[];
    readonly head: readonly string[];
    readonly stats?: Stats;
  })[];
  readonly error?: Refused;
}

export interface StepEvent {
  readonly step: number;
  readonly of: number;
  /** Null for what is no finite number. */
  readonly watch: readonly (number | null)[];
}

export interface DoneEvent {
  readonly ok: boolean;
  readonly seconds: number;
  readonly peak_bytes: number;
  readonly cancelled: boolean;
  readonly reason?: string;
  readonly error?: Refused;
}

export interface TensorSlice {
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly at: readonly (':' | number)[];
  readonly data: readonly string[];
  /** Elements of the slice; `data` may be the first of them only. */
  readonly total: number;
  readonly stats: Stats;
}

export interface Term {
  readonly tap: readonly number[];
  readonly a: { readonly pin: string; readonly index: readonly number[]; readonly value: string | number };
  readonly b: { readonly pin: string; readonly index: readonly number[]; readonly value: string | number };
  readonly product: string | number;
}

export interface Explanation {
  readonly result: string | number;
  readonly engine: string;
  readonly formula: string;
  readonly terms: readonly Term[];
  readonly total: number;
  readonly sum: string | number;
  readonly skipped: { readonly padding: number };
}

export interface CheckedInput {
  readonly input: Pin;
  readonly ok: boolean;
  readonly error: number;
  readonly tolerance: number;
}

export interface Plan {
  readonly engine: string;
  readonly kernel: string;
  readonly why: string;
  readonly cost_us: number;
  readonly workspace_bytes: number;
}

export interface About {
  readonly version: string;
  readonly cpu: string;
  readonly isa: string;
  readonly engines: readonly Engine[];
  readonly folder: string;
  readonly file: string | null;
  readonly budgets: Readonly<Record<string, number>>;
}

export interface Scene {
  readonly id: string;
  readonly title: string;
  readonly text: string;
  readonly group: string;
}

type Sent = Omit<Page, 'view'> & { readonly view?: Page['view'] };

async function answer<T>(response: Response): Promise<T> {
  const body: unknown = await response.json().catch(() => undefined);
  if (response.ok) return body as T;
  const refused = (body as { error?: Refused } | undefined)?.error;
  throw new Refusal(refused ?? { message: `The server answered ${response.status}.` }, response.status);
}

async function ask<T>(path: string, init?: RequestInit): Promise<T> {
  let response: Response;
  try {
    response = await fetch(path, init);
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw new Refusal({ message: 'The studio does not answer. Is it still running?' }, 0);
  }
  return answer<T>(response);
}

function post<T>(path: string, body: unknown, signal?: AbortSignal): Promise<T> {
  const init: RequestInit = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) };
  return ask<T>(path, signal ? { ...init, signal } : init);
}

const name = encodeURIComponent;

export const api = {
  about: () => ask<About>('/api/about'),
  ops: () => ask<{ graph?: OpTable } & Partial<OpTable>>('/api/ops'),
  infer: (page: Sent, signal: AbortSignal) => post<Inferred>('/api/infer', { page }, signal),
  run: (page: Sent, engine: string, loop?: { steps: number; watch: readonly Pin[] }) =>
    post<{ run: string }>('/api/run', loop ? { page, engine, loop } : { page, engine }),
  events: (run: string) => new EventSource(`/api/runs/${name(run)}/events`),
  cancel: (run: string) => post<unknown>(`/api/runs/${name(run)}/cancel`, {}),
  tensor: (run: string, pin: Pin, at: string, limit = 65536) =>
    ask<TensorSlice>(`/api/runs/${name(run)}/tensor?node=${name(pin[0])}&pin=${name(pin[1])}&at=${name(at)}&limit=${limit}`),
  npyUrl: (run: string, pin: Pin) => `/api/runs/${name(run)}/npy?node=${name(pin[0])}&pin=${name(pin[1])}`,
  difference: (run: string, a: Pin, b: Pin) =>
    post<{ max: number | string; at: readonly number[] | null; mean: number | string; equal_bits: boolean }>('/api/difference', {
      run,
      a,
      b,
    }),
  differentiate: (page: Sent, outputs: readonly Pin[], inputs: readonly Pin[]) =>
    post<{ page: unknown; added: readonly string[] }>('/api/differentiate', { page, outputs, inputs }),
  gradcheck: (page: Sent, outputs: readonly Pin[], inputs: readonly Pin[]) =>
    post<{ ok: boolean; error: number; by_input: readonly CheckedInput[] }>('/api/gradcheck', { page, outputs, inputs }),
  explain: (run: string, node: string, index: readonly number[], signal: AbortSignal) =>
    post<Explanation>('/api/explain', { run, node, index }, signal),
  exportText: (page: Sent, style: string) => post<{ name: string; text: string }>('/api/export', { page, style }),
  plan: (page: Sent, node: string, engine: string) => post<Plan>('/api/plan', { page, node, engine }),
  importPage: (files: Readonly<Record<string, string>>) => post<{ page: unknown }>('/api/import', files),
  npy: (bytes: ArrayBuffer) =>
    ask<{ dtype: string; shape: readonly number[]; data: readonly Element[] }>('/api/npy', { method: 'POST', body: bytes }),
  files: () => ask<readonly { name: string; modified: string | number; bytes: number }[]>('/api/files'),
  file: (file: string) => ask<{ page: unknown; stamp: string }>(`/api/files/${name(file)}`),
  save: (file: string, page: Page, stamp: string | null) =>
    ask<{ stamp: string }>(`/api/files/${name(file)}`, {
      method: 'PUT',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(stamp === null ? { page } : { page, stamp }),
    }),
  gallery: () => ask<readonly Scene[]>('/api/gallery'),
  scene: (id: string) =>
    ask<{ page: unknown; loop?: { readonly steps: number; readonly watch: readonly Pin[] } }>(`/api/gallery/${name(id)}`),
};
