/**
 * The characters up to U+FFFF that the bundled fonts print, without loading 10 MB of fonts to know: in base 36 the gap from
 * the end of each range to the next one, and how many more follow its first. Made of the fonts and compared with them by
 * printed-ranges.test.ts.
 */
export const printedRanges = `
  w-2m y-c 2-io 2-13 3-5 5-6 2 2-j 2-1q f-8v r5-3j 1h8 1x1-g 5 2-7 c2-8 3c-6x 2-7u 3-5 3-11 3-5 3-7 2 2 2 2-u
  3-1g 2-e 2-d 3-5 2-i 3-2 2-8 2-a 6-n 8-1c h-1 3-q 2-c 4-w t-1 i g-2z 5-b 8-1 5 7-9 v-1 b-2 5-1 4 2 2 i-3 c b
  2-1 2-6 4 2-2 2 5 3-3 3 2-9 6-3 6 6 2 3 4 6 e-2 2-3 3-1 3-1 3-1 3-1 b-5 3-1 a-4 7 5 q r-1 16-2 b 6 h-1 3q-1
  d-e 2 c-1 20 1p-97 6-2 3-1 5-1 3-1 5-6 2-5 f-4 9 h-3 2-1 3 5-1 7-1 5-3 g h-2 u-f 3-b z t-1 1w h 7 z 2-1 m w-9
  y b7-1 3u 1n-1 7e-2 j 92-v 9t-3h z-p 2-2g d-5x r-b 5-1r 2-2d 3-2u 6-14 4-1e 2-15 2-16 6-z d-1a 2-66 2-17 2-58o
  23-g5s 19s-2n 2p-5m 6-1 2 2-4 p-d 74 1b ea-1n fbp-7h 3 2 3-9 2 2 3-1 4-1t 2 3-2m 4-2 4-1 13-6 lm-9 7-1e 2-i
  2-3 46-4e 2-t 4-5 3-5 3-5 3-2 4-6 2-6 e-1
`;
