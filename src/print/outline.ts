/**
 * The outline of a bitmap as a path of PDF (ISO 32000-1, 8.5.2), to be filled by the even-odd rule. It has no seams for a
 * renderer to show, as one rectangle per run of dark cells has, and fewer corners than any other.
 */

type Bitmap = readonly (readonly boolean[])[];

/**
 * A corner is where an odd number of the four cells around it is dark, and every corner is one. Along each grid line the
 * first is joined with the second, the third with the fourth, and so on: so a border goes straight on where two dark cells
 * touch at a corner only, and by the even-odd rule these are no corners.
 */
export function outline(bitmap: Bitmap): string {
  const width = (bitmap[0]?.length ?? 0) + 1;
  const { across, down } = joinedCorners(bitmap, width);
  let path = '';
  for (let start = 0; start < across.length; start++) {
    if (across[start] === none) continue;
    let [x, y] = [start % width, Math.floor(start / width)];
    path += `${x} ${y} m `;
    for (let corner = start; ; ) {
      const beside = across[corner]!;
      across[corner] = across[beside] = none;
      x += beside - corner;
      path += `${x} ${y} l `;
      corner = down[beside]!;
      // Closing the path draws the last side.
      if (corner === start) break;
      y += (corner - beside) / width;
      path += `${x} ${y} l `;
    }
    path += 'h\n';
  }
  return path;
}

const none = -1;

/** Of each corner, by its number, the other end of its side to the left or right, and of that up or down. */
function joinedCorners(bitmap: Bitmap, width: number): { across: Int32Array; down: Int32Array } {
  const size = bitmap.length === 0 ? 0 : width * (bitmap.length + 1);
  const across = new Int32Array(size).fill(none);
  const down = new Int32Array(size);
  // Of each column the corner that waits for the one below it.
  const above = new Int32Array(width).fill(none);
  let before: readonly boolean[] = [];
  for (let number = 0; number < size; ) {
    const row = bitmap[number / width] ?? [];
    let left = none;
    // Whether the side between the rows, up to here, is a border.
    let isBorder = false;
    for (let x = 0; x < width; x++, number++) {
      const goesOn = (before[x] === true) !== (row[x] === true);
      if (goesOn === isBorder) continue;
      isBorder = goesOn;
      if (left === none) left = number;
      else {
        across[left] = number;
        across[number] = left;
        left = none;
      }
      const top = above[x]!;
      if (top === none) above[x] = number;
      else {
        down[top] = number;
        down[number] = top;
        above[x] = none;
      }
    }
    before = row;
  }
  return { across, down };
}
