// Tensors of a run, asked for slice by slice and kept until the run is another.
import { useEffect, useState } from 'react';
import type { Pin } from '../../core/page';
import { api, type TensorSlice } from '../api';

const most = 64;
const kept = new Map<string, Promise<TensorSlice>>();

function ask(run: string, pin: Pin, at: string): Promise<TensorSlice> {
  const key = JSON.stringify([run, pin, at]);
  const known = kept.get(key);
  if (known) return known;
  const asked = api.tensor(run, pin, at);
  asked.catch(() => kept.delete(key));
  kept.set(key, asked);
  if (kept.size > most) kept.delete(kept.keys().next().value ?? '');
  return asked;
}

export interface Asked {
  readonly tensor?: TensorSlice;
  readonly problem?: string;
}

export function useTensorSlice(run: string | null, pin: Pin | null, at: string): Asked {
  const [asked, setAsked] = useState<Asked>({});
  const [node, name] = pin ?? ['', ''];
  useEffect(() => {
    if (!run || !node) return setAsked({});
    let current = true;
    ask(run, [node, name], at).then(
      (tensor) => current && setAsked({ tensor }),
      (error: Error) => current && setAsked({ problem: error.message }),
    );
    return () => {
      current = false;
    };
  }, [run, node, name, at]);
  return asked;
}
