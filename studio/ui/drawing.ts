import { drawPage, type Ink } from '../core/drawing';
import { shapeText } from '../core/tensor';
import { currentPage } from './state/document';
import { useScreen } from './state/screen';
import { useShapes } from './state/shapes';

function ink(): Ink {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string): string => style.getPropertyValue(name).trim();
  return {
    canvas: colour('--canvas'),
    body: colour('--block'),
    border: colour('--amber'),
    wire: colour('--wire'),
    title: colour('--cyan'),
    text: colour('--text'),
    quiet: colour('--quiet'),
  };
}

export function drawingOf(): string {
  const shapes = Array.from(useShapes.getState().outputs, ([key, output]): [string, string] => [
    key,
    `${output.dtype} ${shapeText(output.shape)}`,
  ]);
  return drawPage(currentPage(), useScreen.getState().table, new Map(shapes), ink());
}

/** Twice the size of the drawing, so that it stays sharp in a document. */
export async function pngOf(): Promise<Blob> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(drawingOf())}`;
  await image.decode();
  const canvas = document.createElement('canvas');
  canvas.width = image.width * 2;
  canvas.height = image.height * 2;
  canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error('The browser made no picture.'))), 'image/png');
  });
}
