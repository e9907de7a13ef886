// The choice of an engine. Names, descriptions and obstacles are the library's; here is only how the page holds them.
export interface Engine {
  readonly name: string;
  readonly description: string;
  /** Why it cannot run on this machine; empty when it can. */
  readonly obstacle: string;
}

/** The choice of no engine by name: the library takes the cheapest for each block. */
export const automatic = '';

export function choiceText(choice: string): string {
  return choice === automatic ? 'automatic' : choice;
}

/** A choice that was kept, or automatic where this machine cannot follow it. */
export function usableChoice(engines: readonly Engine[], kept: string): string {
  return engines.some(({ name, obstacle }) => name === kept && obstacle === '') ? kept : automatic;
}

/** The engines that computed blocks of a run, each once. Blocks that are no convolutions have none. */
export function enginesOf(events: Iterable<{ readonly engine?: string }>): readonly string[] {
  return [...new Set(Array.from(events, ({ engine }) => engine ?? ''))].filter((name) => name !== '').sort();
}
