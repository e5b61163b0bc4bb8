// Text that can be read on a colour.

/**
 * Black or white, whichever has more contrast on a CSS colour. Undefined for what is no colour or
 * lets through what is behind it. Source: WCAG 2.2, relative luminance.
 */
export function textOn(color: string): '#000' | '#fff' | undefined {
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  if (!canvas) return '#fff';
  canvas.canvas.width = canvas.canvas.height = 1;
  if (!isOpaque(canvas, color)) return undefined;
  canvas.fillRect(0, 0, 1, 1);
  const [red = 0, green = 0, blue = 0] = canvas.getImageData(0, 0, 1, 1).data;
  const light = 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
  return 1.05 / (light + 0.05) >= (light + 0.05) / 0.05 ? '#fff' : '#000';
}

/** Fills with a colour, and reports whether it is one without transparency. */
function isOpaque(canvas: CanvasRenderingContext2D, color: string): boolean {
  // A canvas keeps the colour that it has when it is given something else than a colour.
  const [one, two] = ['#000', '#fff'].map((before) => {
    canvas.fillStyle = before;
    canvas.fillStyle = color;
    return canvas.fillStyle;
  });
  // A transparent colour reads rgba(1, 2, 3, 0.5) or color(srgb 1 0 0 / 0.5). The current colour
  // is another one in the panel than here.
  return one === two && !/^rgba|\//.test(String(one)) && !/currentcolor/i.test(color);
}

function linear(channel: number): number {
  const share = channel / 255;
  return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
}
