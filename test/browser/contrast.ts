/**
 * Runs in the page: every visible text whose colour stands out from what is behind it by less than 4.5 : 1 (WCAG 2.2,
 * criterion 1.4.3; large text is held to the same). Opaque and half-transparent backgrounds are laid over each other.
 */
export function contrastFaults(): string[] {
  type Colour = readonly [red: number, green: number, blue: number, alpha: number];
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true })!;
  const read = (text: string): Colour => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = text;
    canvas.fillRect(0, 0, 1, 1);
    const [red, green, blue, alpha] = canvas.getImageData(0, 0, 1, 1).data;
    return [red!, green!, blue!, alpha! / 255];
  };
  const over = (top: Colour, below: Colour): Colour => {
    const mix = (i: 0 | 1 | 2) => top[i] * top[3] + below[i] * (1 - top[3]);
    return [mix(0), mix(1), mix(2), 1];
  };
  const behind = (element: Element | null): Colour => {
    if (element === null) return [255, 255, 255, 1];
    const own = read(getComputedStyle(element).backgroundColor);
    return own[3] === 1 ? own : over(own, behind(element.parentElement));
  };
  const luminance = (colour: Colour): number => {
    const channel = (i: 0 | 1 | 2) => {
      const value = colour[i] / 255;
      return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    };
    return 0.2126 * channel(0) + 0.7152 * channel(1) + 0.0722 * channel(2);
  };
  const faults = new Set<string>();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const element = node.parentElement!;
    const text = node.textContent!.trim();
    if (text === '' || !element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    if (element.closest('script, style, noscript, svg, [disabled]') !== null) continue;
    const below = behind(element);
    const [a, b] = [luminance(over(read(getComputedStyle(element).color), below)), luminance(below)];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) {
      faults.add(`${ratio.toFixed(2)} <${element.localName} class="${element.className}"> ${text.slice(0, 40)}`);
    }
  }
  return [...faults];
}
