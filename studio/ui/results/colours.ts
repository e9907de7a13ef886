// Colours of values: from the ground's own tone to blue below zero and to orange above, and a colour apart for NaN.

type Colour = readonly [red: number, green: number, blue: number];

const scale = {
  dark: { none: [44, 44, 46], below: [70, 140, 225], above: [245, 155, 40] },
  light: { none: [244, 241, 234], below: [40, 105, 190], above: [222, 128, 10] },
} as const satisfies Record<string, Record<string, Colour>>;
const notANumber: Colour = [190, 0, 150];

/** `most` is the largest magnitude of the tensor, so that slices of it can be compared. */
export function heatColour(value: number, most: number): Colour {
  if (Number.isNaN(value)) return notANumber;
  const { none, below, above } = scale[document.documentElement.dataset.theme === 'light' ? 'light' : 'dark'];
  const strength = most > 0 ? Math.min(1, Math.abs(value) / most) : 0;
  const end = value < 0 ? below : above;
  const mix = (place: 0 | 1 | 2): number => Math.round(none[place] * (1 - strength) + end[place] * strength);
  return [mix(0), mix(1), mix(2)];
}

/** A ground and the text on it that can be read best: black or white, by the ground's luminance. */
export function heatStyle(value: number, most: number): { readonly background: string; readonly color: string } {
  const colour = heatColour(value, most);
  const [red, green, blue] = colour.map((part) => (part / 255) ** 2.2) as [number, number, number];
  const luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  return { background: `rgb(${colour.join()})`, color: luminance > 0.18 ? 'black' : 'white' };
}
