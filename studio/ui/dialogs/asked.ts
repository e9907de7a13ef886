import { useEffect, useState } from 'react';

export interface Answer<T> {
  readonly value?: T;
  readonly problem?: string;
}

/** One request when the dialog opens. `ask` must be the same function at every drawing. */
export function useAnswer<T>(ask: () => Promise<T>): Answer<T> {
  const [answer, setAnswer] = useState<Answer<T>>({});
  useEffect(() => {
    let current = true;
    ask().then(
      (value) => current && setAnswer({ value }),
      (error: Error) => current && setAnswer({ problem: error.message }),
    );
    return () => {
      current = false;
    };
  }, [ask]);
  return answer;
}
