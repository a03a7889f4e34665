import { describe, expect, test } from 'vitest';
import { readinessReason } from '../../../fiscal/readiness.ts';
import { type RefusalCode, refusals } from '../../../fiscal/refusal.ts';
import { errorsPage } from './errors-page.ts';
import { escapeHtml } from './html.ts';
import { landingPage } from './landing-page.ts';
import { readinessPage } from './readiness-page.ts';
import { referencePage } from './reference-page.ts';

const world = { baseUrl: 'https://certo.example', atMode: 'simulator', certificateNumber: 9999 } as const;
const landing = { en: landingPage(world, 'en'), pt: landingPage(world, 'pt') };
const readiness = { ready: readinessPage('en'), pronta: readinessPage('pt') };
const pages = { ...landing, ...readiness, errors: errorsPage(), reference: referencePage() };

test('what is not ours is escaped', () => {
  expect(escapeHtml(`<a href="x" title='y'>&amp;`)).toBe('&lt;a href=&quot;x&quot; title=&#39;y&#39;&gt;&amp;amp;');
  const hostile = landingPage({ ...world, baseUrl: 'https://x/"><script>alert(1)</script>' }, 'en');
  expect(hostile).not.toContain('<script>');
});

test.each(Object.entries(pages))('%s: links, scripts and styles stay on this service', (_name, html) => {
  const addresses = [...html.matchAll(/(?:href|src|action)="([^"]*)"/g)].map((match) => match[1]!);
  expect(addresses.length).toBeGreaterThan(3);
  expect(addresses.filter((address) => !/^[/#]/.test(address) || address.startsWith('//'))).toEqual([]);
});

test.each(Object.entries(pages))('%s: no inline script or style, which the policy would stop', (_name, html) => {
  expect(html).not.toMatch(/<style|\sstyle=|<script(?![^>]*\ssrc=)|\son\w+=/);
});

describe('landing page', () => {
  test.each([
    ['simulator', 'en', 'Simulator', 'no fiscal value'],
    ['test', 'en', 'Test', 'no fiscal value'],
    ['production', 'en', 'Production', 'are real'],
    ['simulator', 'pt', 'Simulador', 'não têm valor fiscal'],
    ['test', 'pt', 'Testes', 'não têm valor fiscal'],
    ['production', 'pt', 'Produção', 'são reais'],
  ] as const)('says that it runs in mode %s (%s)', (atMode, language, word, sentence) => {
    const html = landingPage({ ...world, atMode }, language);
    expect(html).toContain(`<strong>${word}</strong>`);
    expect(html).toContain(sentence);
    expect(html).toContain(`lang="${language === 'pt' ? 'pt-PT' : 'en'}"`);
  });

  test('leads to everything there is for people', () => {
    for (const path of [
      '/docs',
      '/docs/errors',
      '/-json',
      '/-yaml',
      '/.well-known/fiscal-keys.json',
      '/health/ready',
    ]) {
      expect(landing.en).toContain(`href="${path}"`);
    }
  });
});

test.each(Object.entries(readiness))(
  'readiness (%s): each reason has its place, and a command that there is',
  (_name, html) => {
    for (const code of ['AT_CREDENTIALS_REQUIRED', 'AT_SYNC_REQUIRED', 'SERIES_REQUIRED'] as const) {
      const { actionUrl } = readinessReason(code, world.baseUrl);
      expect(actionUrl).toBe(`${world.baseUrl}/docs/readiness#${code}`);
      const from = html.indexOf(`id="${code}"`);
      expect(from).toBeGreaterThan(0);
      expect(html.slice(from, html.indexOf('</section>', from))).toMatch(/<code>certo (company|series) /);
    }
  },
);

test.each(Object.keys(refusals) as RefusalCode[])(
  'the list of refusals has %s, with status and both sentences',
  (code) => {
    const from = pages.errors.indexOf(`id="${code}"`);
    expect(from).toBeGreaterThan(0);
    expect(pages.errors.lastIndexOf('id="status-', from)).toBe(
      pages.errors.indexOf(`id="status-${refusals[code].status}"`),
    );
    const entry = pages.errors.slice(from, pages.errors.indexOf('</div>', from));
    const [, en, pt] = /<dd>(.+)<\/dd>\n<dd lang="pt-PT">(.+)<\/dd>/.exec(entry)!;
    const words = (html: string) => html.replace(/<[^>]+>/g, '');
    // This one is chosen when it is refused; the page tells both cases.
    if (code === 'IDEMPOTENCY_CONFLICT') expect(words(en!)).toContain('Retry-After');
    else {
      expect(words(en!)).toBe(escapeHtml(refusals[code].en));
      expect(words(pt!)).toBe(escapeHtml(refusals[code].pt));
    }
  },
);
