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
const errors = { refusals: errorsPage('en'), recusas: errorsPage('pt') };
const pages = { ...landing, ...readiness, ...errors, reference: referencePage('en'), referência: referencePage('pt') };

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
    const from = errors.refusals.indexOf(`id="${code}"`);
    expect(from).toBeGreaterThan(0);
    expect(errors.refusals.lastIndexOf('id="status-', from)).toBe(
      errors.refusals.indexOf(`id="status-${refusals[code].status}"`),
    );
    const entry = errors.refusals.slice(from, errors.refusals.indexOf('</div>', from));
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

test('in Portuguese the page of refusals, its statuses and the sentence read first are Portuguese', () => {
  const html = errors.recusas;
  expect(html).toContain('<html lang="pt-PT">');
  expect(html).toContain('<h1>Recusas</h1>');
  expect(html).toContain('</span> Não encontrado</h2>');
  const from = html.indexOf('id="UNAUTHENTICATED"');
  const [first, second] = html.slice(from).matchAll(/<dd(.*?)>(.+)<\/dd>/g);
  expect([first![1], first![2]]).toEqual(['', refusals.UNAUTHENTICATED.pt]);
  expect([second![1], second![2]]).toEqual([' lang="en"', refusals.UNAUTHENTICATED.en]);
});

test('the frame of the reference is in the language of the reader, and the reference says that it is English', () => {
  expect(pages.referência).toMatch(/<html lang="pt-PT">[\s\S]*>Recusas<\/a>[\s\S]*<div id="reference" lang="en">/);
  expect(pages.reference).toMatch(/<html lang="en">[\s\S]*>Refusals<\/a>[\s\S]*<div id="reference">/);
});
