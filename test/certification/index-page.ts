/** The index page of the dossier: in Portuguese, one file without anything from elsewhere. */
import { readFileSync } from 'node:fs';
import { escapeHtml } from '../../src/doors/http/docs/html.ts';
import type { InvoiceJson } from '../replies.ts';
import { readSaft, type Saft } from './saft-reading.ts';
import type { Dossier, Entry, Item, Paper } from './scenario.ts';

export const title = 'Dossiê de certificação';

/** What each item of the acceptance list asks for. */
const asked: Readonly<Record<Item, string>> = {
  T1: 'Documentos em dois períodos contabilísticos',
  T2: 'Fatura simplificada com NIF do adquirente',
  T3: 'Anulação',
  T4: 'Documento de conferência',
  T5: 'Fatura feita do documento de T4',
  T6: 'Correção da fatura de T5',
  T7: 'Taxas e isenção',
  T8: 'Descontos e arredondamento',
  T9: 'Moeda estrangeira',
  T10: 'Cliente sem NIF, abaixo de 1,00 €, antes das 10 horas',
  T11: 'Outro cliente sem NIF',
  T12: 'Documentos de transporte, valorizado e não valorizado',
  T13: 'Orçamento ou fatura pró-forma',
  T14: 'Todos os outros tipos de documento',
};

interface Files {
  readonly saftFile: string;
  readonly keyFile: string;
}

export function indexPage(dossier: Dossier, files: Files): string {
  const { company, period, entries } = dossier;
  const saft = readSaft(dossier.saft);
  const papers = entries.reduce((sum, entry) => sum + entry.papers.length, 0);
  const { ProductID, ProductVersion, ProductCompanyTaxID, SoftwareCertificateNumber } = saft.file.Header;
  return `<!doctype html>
<html lang="pt-PT">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · ${escapeHtml(ProductID)}</title>
<style>
${style}</style>
</head>
<body>
<header>
${mark}
<div>
<h1>${title}</h1>
<p>${entries.length} documentos em ${papers} PDF, o SAF-T que os contém e a chave pública que os verifica.</p>
</div>
</header>
<main>
<dl class="facts">
${fact('Programa', `${ProductID}, versão ${ProductVersion}`)}
${fact('NIF do produtor', ProductCompanyTaxID)}
${fact('Certificado', `n.º ${SoftwareCertificateNumber}${SoftwareCertificateNumber === '9999' ? ' (fictício)' : ''}`)}
${fact('Emitente', `${company.name}, NIF ${company.taxpayerNumber}`)}
${fact('Período', `${day(period.from)} a ${day(period.to)}`)}
</dl>
<p class="files"><a class="button" href="${files.saftFile}">SAF-T (PT) 1.04_01</a> <a class="button second" href="${files.keyFile}">Chave pública (PEM)</a></p>
<p class="notice"><strong>Sem valor fiscal.</strong> Os documentos foram emitidos com um relógio virtual e comunicados a um simulador da AT.</p>
<h2>Documentos</h2>
<div class="frame" tabindex="0" role="region" aria-label="Documentos">
<table>
<thead><tr><th scope="col">Item</th><th scope="col">Documento</th><th scope="col">ATCUD</th><th scope="col">Assinatura</th><th scope="col" class="figure">Total</th><th scope="col">O que ver</th></tr></thead>
${groups(entries, saft)}
${wholeSet(entries, saft, files.saftFile)}
</table>
</div>
<h2>Como verificar</h2>
${verification(entries, files)}
</main>
</body>
</html>
`;
}

const fact = (name: string, value: string) => `<div><dt>${name}</dt><dd>${escapeHtml(value)}</dd></div>`;
const day = (iso: string) => iso.split('-').reverse().join('/');

function groups(entries: readonly Entry[], saft: Saft): string {
  const items = [...new Set(entries.map(({ item }) => item))];
  return items
    .map((item) => {
      const own = entries.filter((entry) => entry.item === item);
      const head = `<tr class="head"><th scope="rowgroup" id="${item}">${item}</th><th scope="rowgroup" colspan="5">${asked[item]}</th></tr>`;
      return `<tbody>\n${[head, ...own.map((entry) => row(entry, saft))].join('\n')}\n</tbody>`;
    })
    .join('\n');
}

/** T15 is the file of all of them. */
function wholeSet(entries: readonly Entry[], saft: Saft, file: string): string {
  const all = [saft.invoices, saft.movements, saft.works, saft.payments].map((section) => section.length);
  const counts = `${all[0]} faturas e notas, ${all[1]} documentos de transporte, ${all[2]} pró-formas, ${all[3]} recibos`;
  const look = `Válido pelo esquema XSD; as assinaturas verificam-se só com a chave pública; os ${entries.length} documentos desta página e nenhum outro`;
  return `<tbody>
<tr class="head"><th scope="rowgroup" id="T15">T15</th><th scope="rowgroup" colspan="5">SAF-T de todo o conjunto</th></tr>
<tr><td></td><td data-label="Documento" colspan="4"><a href="${file}">${file}</a><span class="name">${counts}</span></td><td class="look" data-label="O que ver">${look}</td></tr>
</tbody>`;
}

function row({ document, name, look, papers }: Entry, saft: Saft): string {
  const { number = '', atcud = '', shortHash } = document as InvoiceJson;
  const { GrossTotal } = saft.document(number).DocumentTotals;
  const links = papers.map((paper) => link(paper, papers.length === 1 ? number : `${number}, ${paper.label}`));
  const cell = (label: string, html: string, kind = '') => `<td${kind} data-label="${label}">${html}</td>`;
  return `<tr><td></td>${cell('Documento', `${links.join('<br>')}<span class="name">${escapeHtml(name)}</span>`)}${cell('ATCUD', `<code>${atcud}</code>`)}${cell('Assinatura', shortHash === undefined ? '<span class="name">sem assinatura</span>' : `<code>${escapeHtml(shortHash)}</code>`)}${cell('Total', `${euro(GrossTotal)}`, ' class="figure"')}${cell('O que ver', escapeHtml(look), ' class="look"')}</tr>`;
}

const link = ({ file }: Paper, text: string) => `<a href="${encodeURI(file)}">${escapeHtml(text)}</a>`;

/** "1234.56" as "1 234,56 €". */
function euro(amount: string): string {
  const [whole = '', cents = ''] = amount.split('.');
  return `${whole.replace(/\B(?=(\d{3})+$)/g, '\u202f')},${cents}\u00a0€`;
}

/** Two documents of one series: the first is signed over nothing before it, the second over the first. */
function verification(entries: readonly Entry[], { saftFile, keyFile }: Files): string {
  const documents = entries.map(({ document }) => document as InvoiceJson);
  const series = documents.find(({ number }) => number?.startsWith('FT '))?.number?.split('/')[0];
  const chain = [1, 2].flatMap((place) => documents.filter(({ number }) => number === `${series}/${place}`));
  const blocks = chain.map(
    ({ number, signature }) => `<h3>${number}</h3>
<pre tabindex="0"><code>${escapeHtml(commands(signature!, keyFile))}</code></pre>`,
  );
  return `<p>Cada assinatura cobre a data, a data e hora de gravação, o número, o total em euros e a assinatura do documento anterior da mesma série, separados por ponto e vírgula. Tudo isto está em <a href="${saftFile}">${saftFile}</a> (<code>InvoiceDate</code>, <code>SystemEntryDate</code>, <code>InvoiceNo</code>, <code>GrossTotal</code>, <code>Hash</code>); os quatro caracteres impressos são o 1.º, 11.º, 21.º e 31.º da assinatura. Numa linha de comandos, nesta pasta:</p>
${blocks.join('\n')}
<p>O OpenSSL responde <code>Verified OK</code>. Com um só carácter diferente, já não. Os recibos não são assinados.</p>`;
}

function commands({ text, value }: { readonly text: string; readonly value: string }, keyFile: string): string {
  return `printf %s '${text}' > texto.txt
printf %s '${value}' | openssl base64 -d -A > assinatura.bin
openssl dgst -sha1 -verify ${keyFile} -signature assinatura.bin texto.txt`;
}

const mark = readFileSync(new URL('../../src/doors/http/docs/mark.svg', import.meta.url), 'utf8')
  .trim()
  .replace('<svg ', '<svg width="44" height="44" aria-hidden="true" ');

const style = `:root {
  color-scheme: light dark;
  --paper: #ffffff; --raised: #f3f6f5; --line: #d5dedb; --ink: #15201e; --quiet: #50605c;
  --accent: #0f766e; --on-accent: #ffffff; --attention: #8a4600; --attention-wash: #fdf1e3;
  --mono: ui-monospace, "SFMono-Regular", Menlo, Consolas, "Noto Sans Mono", "Liberation Mono", monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #0f1615; --raised: #18211f; --line: #2c3a37; --ink: #e9f0ee; --quiet: #a2b2ae;
    --accent: #5bc9bb; --on-accent: #06201c; --attention: #f3b56b; --attention-wash: #2f2413;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 400 16px/1.5 "Noto Sans", system-ui, sans-serif; -webkit-text-size-adjust: 100%; }
header, main { max-width: 1180px; margin: 0 auto; padding: 0 24px; }
header { display: flex; gap: 16px; align-items: flex-start; padding-top: 48px; }
header svg { flex: none; margin-top: 2px; }
h1 { margin: 0; font-size: 33px; line-height: 1.2; font-weight: 600; letter-spacing: -0.01em; }
header p { margin: 8px 0 0; color: var(--quiet); }
h2 { margin: 48px 0 16px; font-size: 23px; line-height: 1.25; font-weight: 600; }
h3 { margin: 24px 0 8px; font-size: 16px; font-weight: 600; }
main > p { max-width: 76ch; }
main { padding-bottom: 72px; }
a { color: var(--accent); text-underline-offset: 0.2em; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; border-radius: 4px; }
.facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(190px, 1fr)); gap: 16px 32px; margin: 32px 0 24px; padding: 20px 0; border: solid var(--line); border-width: 1px 0; }
.facts dt { color: var(--quiet); font-size: 13px; }
.facts dd { margin: 0; }
.files { display: flex; flex-wrap: wrap; gap: 12px; }
.button { padding: 8px 16px; border: 1px solid var(--accent); border-radius: 8px; background: var(--accent); color: var(--on-accent); font-weight: 600; text-decoration: none; }
.button.second { background: none; color: var(--accent); }
.notice { padding: 12px 16px; border-left: 4px solid var(--attention); border-radius: 4px; background: var(--attention-wash); }
.notice strong { color: var(--attention); }
.frame { overflow-x: auto; }
table { width: 100%; border-collapse: collapse; font-size: 14px; }
th, td { padding: 8px 12px; text-align: left; vertical-align: top; }
thead th { position: sticky; top: 0; background: var(--paper); border-bottom: 1px solid var(--line); color: var(--quiet); font-size: 13px; font-weight: 400; }
tbody { border-bottom: 1px solid var(--line); }
.head th { padding-top: 16px; font-weight: 600; }
tbody td:first-child, .head th:first-child, thead th:first-child { padding-left: 0; width: 44px; }
td a { font-weight: 600; white-space: nowrap; }
.name { display: block; color: var(--quiet); }
.figure { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
code { font-family: var(--mono); font-size: 0.93em; }
td code { white-space: nowrap; }
.look { min-width: 240px; max-width: 380px; }
pre { margin: 0; padding: 16px; overflow-x: auto; border-radius: 8px; background: var(--raised); font-size: 13px; }
@media (max-width: 760px) {
  header, main { padding-left: 16px; padding-right: 16px; }
  header { padding-top: 24px; }
  h1 { font-size: 28px; }
  thead { position: absolute; clip-path: inset(50%); width: 1px; height: 1px; overflow: hidden; }
  table, tbody, tr, td { display: block; width: auto; }
  tbody { padding-bottom: 12px; }
  .head { display: flex; gap: 12px; }
  .head th { padding: 16px 0 4px; width: auto !important; }
  td { display: flex; gap: 12px; padding: 4px 0; }
  td:first-child { display: none; }
  td[data-label="Documento"] { display: block; padding-top: 8px; }
  td:not([data-label="Documento"])::before { content: attr(data-label); flex: 0 0 92px; color: var(--quiet); }
  .figure { text-align: left; }
  .look { min-width: 0; max-width: none; }
}
@media print {
  pre { white-space: pre-wrap; word-break: break-all; }
  .frame { overflow: visible; }
  tbody { break-inside: avoid; }
}
`;
