// Colours of values: one scale from pale to strong for one sign, two for both, and a colour apart for NaN.

const negative = [64, 132, 214] as const;
const positive = [240, 148, 32] as const;
const nothing = [128, 128, 128] as const;

export function heatColour(value: number, most: number): readonly [number, number, number] {
  if (Number.isNaN(value)) return [200, 0, 160];
  const strength = most > 0 ? Math.min(1, Math.abs(value) / most) : 0;
  const end = value < 0 ? negative : positive;
  const mix = (place: 0 | 1 | 2): number =>
    Math.round(nothing[place] * 0.35 * (1 - strength) + end[place] * (0.12 + 0.88 * strength));
  return [mix(0), mix(1), mix(2)];
}
