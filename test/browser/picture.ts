import type { Page, PageScreenshotOptions } from 'playwright-core';
import { eventually } from '../eventually.ts';

/**
 * PNG of what can be photographed, a page or a part of it. On a busy machine Chromium says now and then that it is unable
 * to take a picture; asked again, it takes it.
 */
export function pictureOf(what: Pick<Page, 'screenshot'>, options: PageScreenshotOptions = {}): Promise<Buffer> {
  return eventually(() => what.screenshot(options));
}
