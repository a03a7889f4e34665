// Readers against replies in the shapes seen from the real services, and against everything that must not pass.
import { describe, expect, it } from 'vitest';
import * as s from './fixtures/samples.ts';
import type { Outcome } from './gateway.ts';
import { classOf } from './messages-series.ts';
import { readers } from './readers.ts';
import { openEnvelope, outcomeOfFault } from './replies.ts';
import type { AtDocumentCode } from './reports.ts';

const soap = (body: string) =>
  `<?xml version="1.0" encoding="UTF-8"?><env:Envelope xmlns:env="http://schemas.xmlsoap.org/soap/envelope/"><env:Header/><env:Body>${body}</env:Body></env:Envelope>`;

function read(operation: keyof typeof readers, xml: string, message: object = s.sales('INVOICE')): Outcome {
  const opened = openEnvelope(xml);
  if (opened.kind === 'strange') return { kind: 'unknown', problem: opened.problem, sent: true };
  if (opened.kind === 'fault') return outcomeOfFault(operation, opened.fault);
  return (readers[operation] as (body: object, message: object) => Outcome)(opened.body, message);
}

const invoice = (
  code: string,
  more = '<Mensagem>Opera&#231;&#227;o</Mensagem><DataOperacao>2022-09-21T10:21:10.627+01:00</DataOperacao>',
) =>
  soap(
    `<RegisterInvoiceResponse xmlns="http://factemi.at.min_financas.pt/documents"><Response><CodigoResposta>${code}</CodigoResposta>${more}</Response></RegisterInvoiceResponse>`,
  );

describe('invoice service', () => {
  it.each([
    ['0', { kind: 'done', code: '0', message: 'Operação' }],
    ['-10', { kind: 'done', code: '-10' }],
    ['-1', { kind: 'refused', reason: 'data', code: '-1', message: 'Operação' }],
    ['-8', { kind: 'refused', reason: 'data' }],
    ['-3', { kind: 'refused', reason: 'inspect' }],
    ['-2', { kind: 'refused', reason: 'inspect' }],
    ['-9', { kind: 'refused', reason: 'inspect' }],
    ['-16', { kind: 'refused', reason: 'configuration' }],
    ['-17', { kind: 'refused', reason: 'configuration' }],
    ['99', { kind: 'refused', reason: 'credentials' }],
    ['8', { kind: 'refused', reason: 'configuration' }],
    ['10', { kind: 'unknown' }],
    ['12', { kind: 'unknown' }],
    ['-97', { kind: 'unknown' }],
    ['-99', { kind: 'unknown' }],
    // Not in any table: a person looks.
    ['-4711', { kind: 'refused', reason: 'inspect' }],
    ['500', { kind: 'refused', reason: 'inspect' }],
  ])('code %s', (code, expected) => {
    expect(read('reportInvoice', invoice(code))).toMatchObject(expected);
  });

  it.each([
    ['reportWork', 'RegisterWorkResponse', '-22', 'done'],
    ['reportPayment', 'RegisterPaymentResponse', '-25', 'done'],
    ['reportWork', 'RegisterWorkResponse', '-10', 'refused'],
    ['changeInvoiceStatus', 'ChangeInvoiceStatusResponse', '-12', 'refused'],
    ['changeWorkStatus', 'ChangeWorkStatusResponse', '-37', 'refused'],
    ['changePaymentStatus', 'ChangePaymentStatusResponse', '-38', 'refused'],
  ] as const)('%s: %s %s', (operation, name, code, kind) => {
    expect(read(operation, invoice(code).replaceAll('RegisterInvoiceResponse', name))).toMatchObject({ kind, code });
  });

  it('a terse no is a no, a terse yes is nothing', () => {
    expect(read('reportInvoice', invoice('99', ''))).toMatchObject({ kind: 'refused', reason: 'credentials' });
    expect(read('reportInvoice', invoice('0', ''))).toMatchObject({ kind: 'unknown' });
    expect(read('reportInvoice', invoice('0', '<Mensagem>ok</Mensagem>'))).toMatchObject({ kind: 'unknown' });
    expect(
      read('reportInvoice', invoice('0', '<Mensagem>ok</Mensagem><DataOperacao>ontem</DataOperacao>')),
    ).toMatchObject({ kind: 'unknown' });
  });

  it.each([
    ['another operation', invoice('0').replaceAll('RegisterInvoice', 'RegisterWork')],
    ['another namespace', invoice('0').replace('factemi.', 'evil.')],
    ['two codes', invoice('0</CodigoResposta><CodigoResposta>-1')],
    ['no number', invoice('zero')],
    ['a child in the code', invoice('0<a/>')],
    ['an extra child', invoice('0').replace('</Response>', '<x/></Response>')],
    ['two responses', invoice('0').replace('</Response>', '</Response><Response/>')],
    ['no envelope', '<Envelope/>'],
    ['another envelope', invoice('0').replaceAll('schemas.xmlsoap.org', 'example.org')],
    ['an empty body', soap('')],
    ['two bodies', invoice('0').replace('</env:Body>', '</env:Body><env:Body/>')],
    ['two elements in the body', invoice('0').replace('</env:Body>', '<x/></env:Body>')],
    ['a body of another namespace', invoice('0').replaceAll('env:Body', 'Body')],
    ['a terse yes in other digits', invoice('-00', '')],
  ])('%s is unknown', (_name, xml) => {
    expect(read('reportInvoice', xml)).toMatchObject({ kind: 'unknown' });
  });

  it('keeps messages short and in one line', () => {
    const found = read('reportInvoice', invoice('-1', `<Mensagem>${'a\n '.repeat(1000)}</Mensagem>`));
    expect(found).toMatchObject({ kind: 'refused', message: expect.stringMatching(/^(?:a )+a?$/) });
    if (found.kind === 'refused') expect(found.message.length).toBeLessThanOrEqual(500);
  });

  it('cuts messages between characters: half of one could not be kept', () => {
    const found = read('reportInvoice', invoice('-1', `<Mensagem>a${'😀'.repeat(600)}</Mensagem>`));
    expect(found).toMatchObject({ kind: 'refused', message: `a${'😀'.repeat(499)}` });
  });
});

describe('faults', () => {
  const authentication = (code: string) =>
    soap(
      '<env:Fault><faultcode>Client.Authentication</faultcode><faultstring>Ocorreu um erro</faultstring><faultactor/><detail>' +
        '<ns:AuthenticationException xmlns:ns="http://autenticacao.portaldasfinancas.gov.pt/services/ValidateCredencialService/2012/11">' +
        `<AuthenticationFailed><Code>${code}</Code><Message>Chave de sess&#227;o inv&#225;lida.\n </Message><NumberOfTriesRemaining>-1</NumberOfTriesRemaining>` +
        '</AuthenticationFailed></ns:AuthenticationException></detail></env:Fault>',
    );

  it('authentication is judged by its number', () => {
    expect(read('reportInvoice', authentication('16'))).toEqual({
      kind: 'refused',
      code: '16',
      message: 'Chave de sessão inválida.',
      reason: 'configuration',
    });
    expect(read('reportInvoice', authentication('99'))).toMatchObject({ kind: 'refused', reason: 'credentials' });
    expect(read('registerSeries', authentication('99'))).toMatchObject({ kind: 'refused', reason: 'credentials' });
    // The transport service counts otherwise: 11 is expired there, 10 the format of the time.
    expect(read('reportInvoice', authentication('10'))).toMatchObject({ kind: 'unknown' });
    expect(read('reportTransport', authentication('10'))).toMatchObject({ kind: 'refused', reason: 'configuration' });
    expect(read('reportTransport', authentication('11'))).toMatchObject({ kind: 'unknown' });
    expect(read('reportTransport', authentication('13'))).toMatchObject({ kind: 'unknown' });
  });

  it('a number as faultcode counts too, any other fault is unknown', () => {
    const plain = (code: string) =>
      soap(`<env:Fault><faultcode>${code}</faultcode><faultstring>x</faultstring><detail/></env:Fault>`);
    expect(read('listSeries', plain('33'))).toMatchObject({ kind: 'refused', reason: 'configuration', code: '33' });
    expect(read('reportInvoice', plain('env:Server'))).toMatchObject({ kind: 'unknown' });
    // A fault is never a yes.
    expect(read('reportInvoice', plain('0'))).toMatchObject({ kind: 'unknown' });
    expect(read('listSeries', plain('2002'))).toMatchObject({ kind: 'unknown' });
    // Nor a no to the document, where its number is none of authentication.
    for (const code of ['500', '4000']) {
      for (const operation of ['reportInvoice', 'registerSeries', 'reportTransport'] as const)
        expect([code, operation, read(operation, plain(code)).kind]).toEqual([code, operation, 'unknown']);
    }
    // What only looks like a fault says nothing of a password.
    expect(read('reportInvoice', plain('99').replaceAll('env:Fault', 'Fault'))).toMatchObject({ kind: 'unknown' });
  });

  it('SOAP 1.2 from the gateway in front', () => {
    const xml =
      "<?xml version='1.0' ?><env:Envelope xmlns:env='http://www.w3.org/2003/05/soap-envelope'><env:Body><env:Fault><env:Code><env:Value>env:Receiver</env:Value></env:Code>" +
      '<env:Reason><env:Text xml:lang="en-US">Internal Error (from server)</env:Text></env:Reason></env:Fault></env:Body></env:Envelope>';
    expect(read('reportTransport', xml)).toMatchObject({ kind: 'unknown' });
  });
});

describe('series service', () => {
  const info =
    '<infoSerie><serie>A2026</serie><tipoSerie>N</tipoSerie><classeDoc>SI</classeDoc><tipoDoc>FT</tipoDoc><numInicialSeq>1</numInicialSeq>' +
    '<dataInicioPrevUtiliz>2026-04-01</dataInicioPrevUtiliz><meioProcessamento>PI</meioProcessamento><numCertSWFatur>9999</numCertSWFatur>' +
    '<codValidacaoSerie>AAJFF5JWJN</codValidacaoSerie><dataRegisto>2026-02-01</dataRegisto><estado>A</estado>' +
    '<dataEstado>2026-02-01T12:31:20Z</dataEstado><nifComunicou>500000000</nifComunicou></infoSerie>';
  const reply = (records: string, code: string, verb = 'registarSerie') =>
    `<S:Envelope xmlns:S="http://schemas.xmlsoap.org/soap/envelope/"><S:Header><WorkContext xmlns="http://oracle.com/weblogic/soap/workarea/">rO0ABX</WorkContext></S:Header><S:Body><ns0:${verb}Response xmlns:ns0="http://at.gov.pt/"><${verb}Resp>${records}<infoResultOper><codResultOper>${code}</codResultOper><msgResultOper>S&#233;rie</msgResultOper></infoResultOper></${verb}Resp></ns0:${verb}Response></S:Body></S:Envelope>`;
  const asked = {
    series: 'a2026',
    documentCode: 'FT',
    firstNumber: 1,
    startDate: '2026-04-01',
    certificateNumber: 9999,
  };

  it('a registration needs its record, about the series that was asked', () => {
    // 10 characters, as the test environment gives them.
    expect(read('registerSeries', reply(info, '2001'), asked)).toMatchObject({
      kind: 'done',
      series: {
        validationCode: 'AAJFF5JWJN',
        state: 'A',
        processing: 'PI',
        firstNumber: '1',
        certificateNumber: '9999',
      },
    });
    // Whose it is can then not be said; that it is there can.
    const unnamed = read('registerSeries', reply(info.replace('>9999<', '>?<'), '2001'), asked);
    expect(unnamed).toMatchObject({ kind: 'done', series: { validationCode: 'AAJFF5JWJN' } });
    expect(unnamed).not.toHaveProperty('series.certificateNumber');
    // xs:date may have a zone.
    for (const zone of ['Z', '+01:00'])
      expect(read('registerSeries', reply(info.replace('2026-04-01', `$&${zone}`), '2001'), asked)).toMatchObject({
        series: { startDate: '2026-04-01' },
      });
    expect(read('registerSeries', reply(info.replace('2026-04-01', '2026-04-31'), '2001'), asked)).toMatchObject({
      kind: 'unknown',
    });
    expect(read('registerSeries', reply('', '2001'), asked)).toMatchObject({ kind: 'unknown' });
    expect(read('registerSeries', reply(info, '2001'), { ...asked, series: 'B2026' })).toMatchObject({
      kind: 'unknown',
    });
    expect(read('registerSeries', reply(info, '2001'), { ...asked, documentCode: 'NC' })).toMatchObject({
      kind: 'unknown',
    });
    expect(read('registerSeries', reply(info + info, '2001'), asked)).toMatchObject({ kind: 'unknown' });
    expect(read('registerSeries', reply(info.replace('AAJFF5JWJN', 'AA-FF5JW'), '2001'), asked)).toMatchObject({
      kind: 'unknown',
    });
    expect(read('registerSeries', reply(info, '2002'), asked)).toMatchObject({ kind: 'unknown' });
    expect(read('registerSeries', reply(`${info}<outro/>`, '2001'), asked)).toMatchObject({ kind: 'unknown' });
  });

  it.each([
    ['whose series is written in other letters', '>A2026<', '>a2026<', 'A2026', 'done'],
    ['of another operation', 'registarSerieResponse', 'anularSerieResponse', 'A2026', 'unknown'],
    ['of another namespace', 'http://at.gov.pt/', 'http://at.gov.pt/outro', 'A2026', 'unknown'],
    ['with two results', '</infoResultOper>', '</infoResultOper><infoResultOper/>', 'A2026', 'unknown'],
    ['without a result', /<infoResultOper>.*<.infoResultOper>/, '', 'A2026', 'unknown'],
    [
      'whose last number is none',
      '<estado>',
      '<seqUltimoDocEmitido>x</seqUltimoDocEmitido><estado>',
      'A2026',
      'unknown',
    ],
    ['whose code is none', '>2001<', '>2001x<', 'A2026', 'unknown'],
    ['whose validation code has eight characters', 'AAJFF5JWJN', 'AAJFF5JW', 'A2026', 'done'],
    ['whose validation code has seven', 'AAJFF5JWJN', 'AAJFF5J', 'A2026', 'unknown'],
  ] as const)('an answer %s', (_what, from, to, series, kind) => {
    const answer = reply(info, '2001');
    const other = answer.replaceAll(new RegExp(from, 'g'), to);
    expect(other).not.toBe(answer);
    expect(read('registerSeries', other, { ...asked, series })).toMatchObject({ kind });
  });

  it('the class of each type of document', () => {
    const codesOf = { SI: 'FT FS FR ND NC', MG: 'GR GT GA GC GD', WD: 'CM CC FC FO NE OU OR PF', PY: 'RC RG' };
    for (const [documentClass, codes] of Object.entries(codesOf))
      for (const code of codes.split(' '))
        expect([code, classOf(code as AtDocumentCode)]).toEqual([code, documentClass]);
  });

  it.each([
    ['4001', 'inspect'],
    ['4000', 'data'],
    ['4049', 'data'],
    ['4043', 'configuration'],
  ])('code %s', (code, reason) => {
    expect(read('registerSeries', reply('', code), asked)).toMatchObject({ kind: 'refused', code, reason });
  });

  it('5000 is unknown; lists must fit the question', () => {
    expect(read('registerSeries', reply('', '5000'), asked)).toMatchObject({ kind: 'unknown' });
    expect(read('listSeries', reply(info + info, '2002', 'consultarSeries'), { series: 'A2026' })).toMatchObject({
      kind: 'done',
      series: [{}, {}],
    });
    expect(read('listSeries', reply(info, '2002', 'consultarSeries'), { series: 'B' })).toMatchObject({
      kind: 'unknown',
    });
    for (const other of [{ documentCode: 'NC' }, { state: 'F' }])
      expect(read('listSeries', reply(info, '2002', 'consultarSeries'), other)).toMatchObject({ kind: 'unknown' });
    expect(read('listSeries', reply('', '2002', 'consultarSeries'), {})).toMatchObject({ kind: 'done', series: [] });
    expect(read('annulSeries', reply(info, '2004', 'anularSerie'), asked)).toMatchObject({ kind: 'unknown' });
    expect(read('annulSeries', reply(info, '2003', 'anularSerie'), asked)).toMatchObject({ kind: 'done' });
    for (const other of [
      { ...asked, series: 'B2026' },
      { ...asked, documentCode: 'NC' },
    ])
      expect(read('annulSeries', reply(info, '2003', 'anularSerie'), other)).toMatchObject({ kind: 'unknown' });
  });
});

describe('transport service', () => {
  const reply = (
    statuses: string[],
    more = '<DocumentNumber>GR A2026/1</DocumentNumber><ATDocCodeID>1099214626</ATDocCodeID>',
  ) =>
    soap(
      `<ns0:envioDocumentoTransporteResponseElem xmlns:ns0="https://servicos.portaldasfinancas.gov.pt/sgdtws/documentosTransporte/">${statuses
        .map(
          (code) =>
            `<ResponseStatus><ReturnCode>${code}</ReturnCode><ReturnMessage>OK</ReturnMessage></ResponseStatus>`,
        )
        .join('')}${more}</ns0:envioDocumentoTransporteResponseElem>`,
    );
  const asked = s.transport();

  it('reads the code of the AT; a warning is a yes; one no among several decides', () => {
    expect(read('reportTransport', reply(['0']), asked)).toEqual({
      kind: 'done',
      code: '0',
      message: 'OK',
      atDocCode: '1099214626',
    });
    expect(read('reportTransport', reply(['-100']), asked)).toMatchObject({ kind: 'done', atDocCode: '1099214626' });
    expect(read('reportTransport', reply(['-100', '-20']), asked)).toMatchObject({ kind: 'refused', code: '-20' });
    expect(read('reportTransport', reply(['-99', '-20']), asked)).toMatchObject({ kind: 'refused', code: '-20' });
    expect(read('reportTransport', reply(['-25']), asked)).toMatchObject({ kind: 'unknown' });
  });

  it('a repeat counts as done only when an earlier attempt may have arrived', () => {
    const cancel = { ...asked, status: 'A' };
    for (const [code, message] of [
      ['-3', asked],
      ['-24', asked],
      ['-4', cancel],
    ] as const) {
      expect(read('reportTransport', reply([code], ''), message)).toMatchObject({ kind: 'refused', reason: 'inspect' });
      expect(read('reportTransport', reply([code], ''), { ...message, resent: true })).toMatchObject({
        kind: 'done',
        code,
      });
    }
    expect(read('reportTransport', reply(['-4'], ''), { ...asked, resent: true })).toMatchObject({ kind: 'refused' });
    expect(read('reportTransport', reply(['-3'], ''), { ...cancel, resent: true })).toMatchObject({ kind: 'refused' });
  });

  it('another document or no status is unknown', () => {
    expect(read('reportTransport', reply(['0'], '<DocumentNumber>GR A2026/2</DocumentNumber>'), asked)).toMatchObject({
      kind: 'unknown',
    });
    const [ours, other] = ['GR A2026/1', 'GR A2026/2'].map((number) => `<DocumentNumber>${number}</DocumentNumber>`);
    for (const two of [`${ours}${other}`, `${other}${ours}`, '<DocumentNumber>GR A2026/2<x/></DocumentNumber>'])
      expect([two, read('reportTransport', reply(['0'], two), asked).kind]).toEqual([two, 'unknown']);
    expect(read('reportTransport', reply([]), asked)).toMatchObject({ kind: 'unknown' });
    expect(read('reportTransport', reply(['x']), asked)).toMatchObject({ kind: 'unknown' });
  });

  it('a code of the AT is one, of at most 200 characters: it comes once and is printed', () => {
    const coded = (...codes: string[]) =>
      read('reportTransport', reply(['0'], codes.map((code) => `<ATDocCodeID>${code}</ATDocCodeID>`).join('')), asked);
    expect(coded('1'.repeat(200))).toMatchObject({ kind: 'done', atDocCode: '1'.repeat(200) });
    for (const codes of [['1'.repeat(201)], [''], ['1 2'], ['1', '2'], ['1<x/>']])
      expect([codes, coded(...codes).kind]).toEqual([codes, 'unknown']);
  });
});
