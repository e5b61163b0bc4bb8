// Text that can be read on a colour.

/** Black or white, whichever has more contrast on a CSS colour. Source: WCAG 2.2, relative luminance. */
export function textOn(color: string): '#000' | '#fff' {
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  if (!canvas) return '#fff';
  canvas.canvas.width = canvas.canvas.height = 1;
  canvas.fillStyle = color;
  canvas.fillRect(0, 0, 1, 1);
  const [red = 0, green = 0, blue = 0] = canvas.getImageData(0, 0, 1, 1).data;
  const light = 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
  return 1.05 / (light + 0.05) >= (light + 0.05) / 0.05 ? '#fff' : '#000';
}

function linear(channel: number): number {
  const share = channel / 255;
  return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
}
