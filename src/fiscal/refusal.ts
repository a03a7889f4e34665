/**
 * The one table of refusals. Everything this program declines to do has a code here, an HTTP status, and a sentence in
 * English and European Portuguese that says what happened and what to do. `code` never changes; sentences may.
 * `{name}` in a sentence is filled from the refusal's facts.
 */
import { documentTypes } from './document.ts';

interface Entry {
  readonly status: number;
  readonly en: string;
  readonly pt: string;
}

/** Problems of one request that are told. Whoever looks for them finds one more at most: that there are more is told too. */
export const most_problems = 50;

export const refusals = {
  // The request itself
  INVALID_REQUEST: {
    status: 400,
    en: `The request has {count} {problems}: errors says what is wrong, and where (up to ${most_problems}). Correct it and send the request again.`,
    pt: `O pedido tem {count} {problems}: errors indica o que está errado e onde (até ${most_problems}). Corrija-o e envie o pedido de novo.`,
  },
  MALFORMED_JSON: {
    status: 400,
    en: 'The body is not valid JSON: {problem}. Send one JSON value in UTF-8.',
    pt: 'O corpo não é JSON válido: {problem}. Envie um único valor JSON em UTF-8.',
  },
  BODY_TOO_LARGE: {
    status: 413,
    en: 'The body is larger than 1 MiB. Send a smaller one.',
    pt: 'O corpo excede 1 MiB. Envie um corpo mais pequeno.',
  },
  URI_TOO_LONG: {
    status: 414,
    en: 'The address is too long. Shorten the query.',
    pt: 'O endereço é demasiado longo. Encurte os parâmetros.',
  },
  HEADERS_TOO_LARGE: {
    status: 431,
    en: 'The request headers are too large. Send fewer or shorter headers.',
    pt: 'Os cabeçalhos do pedido são demasiado grandes. Envie menos cabeçalhos ou mais curtos.',
  },
  BAD_HTTP: {
    status: 400,
    en: 'The request is not valid HTTP. Check the request line and headers.',
    pt: 'O pedido não é HTTP válido. Verifique a linha do pedido e os cabeçalhos.',
  },
  REQUEST_TIMEOUT: {
    status: 408,
    en: 'The request did not arrive whole in time and nothing was changed. Send it again over a new connection.',
    pt: 'O pedido não chegou completo a tempo e nada foi alterado. Envie-o de novo por uma ligação nova.',
  },
  EXPECTATION_FAILED: {
    status: 417,
    en: 'The Expect header asks for something that this service does not do. Leave it out, or send 100-continue.',
    pt: 'O cabeçalho Expect pede algo que este serviço não faz. Omita-o, ou envie 100-continue.',
  },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    en: 'The body must be application/json in UTF-8, and not compressed. Set the Content-Type header, and send no Content-Encoding.',
    pt: 'O corpo tem de ser application/json em UTF-8, sem compressão. Defina o cabeçalho Content-Type e não envie Content-Encoding.',
  },
  ROUTE_NOT_FOUND: {
    status: 404,
    en: 'There is nothing at this address. See /docs for what there is.',
    pt: 'Não existe nada neste endereço. Veja em /docs o que existe.',
  },
  METHOD_NOT_ALLOWED: {
    status: 405,
    en: 'This address does not take {method}. The Allow header lists what it takes.',
    pt: 'Este endereço não aceita {method}. O cabeçalho Allow indica o que aceita.',
  },
  IDEMPOTENCY_KEY_INVALID: {
    status: 400,
    en: 'The idempotency-key header must be given once, with 1 to 128 printable ASCII characters and no spaces.',
    pt: 'O cabeçalho idempotency-key tem de vir uma vez, com 1 a 128 caracteres ASCII imprimíveis e sem espaços.',
  },
  IDEMPOTENCY_KEY_REUSED: {
    status: 422,
    en: 'This idempotency key was already used with a different request. Use a new key for a new request.',
    pt: 'Esta chave de idempotência já foi usada com outro pedido. Use uma chave nova para um pedido novo.',
  },
  IDEMPOTENCY_CONFLICT: {
    status: 409,
    en: '{sentence}',
    pt: '{sentence}',
  },
  UNAUTHENTICATED: {
    status: 401,
    en: 'The credential is missing, invalid or revoked. Send a valid API key in the x-api-key header.',
    pt: 'A credencial está em falta, é inválida ou foi revogada. Envie uma chave de API válida no cabeçalho x-api-key.',
  },
  AMBIGUOUS_CREDENTIALS: {
    status: 400,
    en: 'Two credentials were sent. Send either x-api-key or Authorization, not both.',
    pt: 'Foram enviadas duas credenciais. Envie x-api-key ou Authorization, não ambos.',
  },
  FORBIDDEN: {
    status: 403,
    en: 'This credential may not do this. Use a credential that has the permission.',
    pt: 'Esta credencial não pode fazer isto. Use uma credencial com a permissão necessária.',
  },
  RATE_LIMITED: {
    status: 429,
    en: 'Too many requests with this credential, or too many with wrong ones from this address. Wait for the time in Retry-After and send the request again.',
    pt: 'Demasiados pedidos com esta credencial, ou com credenciais erradas a partir deste endereço. Aguarde o tempo indicado em Retry-After e envie o pedido de novo.',
  },
  INTERNAL_ERROR: {
    status: 500,
    en: 'Something went wrong on our side and nothing was changed. Try again; if it happens again, report the requestId.',
    pt: 'Ocorreu um erro do nosso lado e nada foi alterado. Tente de novo; se voltar a acontecer, comunique o requestId.',
  },
  OUTCOME_UNKNOWN: {
    status: 500,
    en: 'The connection to the database broke while the change was being written; it may or may not have happened. Before you repeat it, look: GET the record, or the list that a new one would be in. With an idempotency key, send the same request with the same key: it is never done twice, and answers what was done, or 409 while that is not known. After a 409 without Retry-After look, and only if nothing was done use a new key.',
    pt: 'A ligação à base de dados caiu durante a gravação; a alteração pode ter sido feita ou não. Antes de repetir, verifique: faça GET do registo ou, se fosse novo, da lista em que estaria. Com chave de idempotência, repita o mesmo pedido com a mesma chave: nunca é executado duas vezes e devolve o que foi feito, ou 409 enquanto isso não se souber. Depois de um 409 sem Retry-After verifique e, só se nada tiver sido feito, use uma chave nova.',
  },
  UNAVAILABLE: {
    status: 503,
    en: 'The service cannot answer at the moment and nothing was changed. Try again after the time in Retry-After.',
    pt: 'O serviço não consegue responder de momento e nada foi alterado. Tente de novo após o tempo indicado em Retry-After.',
  },

  TOO_MANY_DOWNLOADS: {
    status: 429,
    en: 'This company has {limit} downloads under way already. Wait until one has ended, or close one.',
    pt: 'Esta empresa já tem {limit} transferências em curso. Aguarde que uma termine, ou interrompa uma.',
  },
  DOWNLOADS_BUSY: {
    status: 503,
    en: 'As many files as this service makes at once are being made. Try again after the time in Retry-After.',
    pt: 'Já estão a ser preparados tantos ficheiros quantos o serviço prepara ao mesmo tempo. Tente de novo após o tempo indicado em Retry-After.',
  },

  // Problems of one place (members of errors[])
  UNKNOWN_FIELD: {
    status: 400,
    en: 'This field does not exist here. Remove it, or correct its name.',
    pt: 'Este campo não existe aqui. Remova-o ou corrija o nome.',
  },
  DUPLICATE_FIELD: {
    status: 400,
    en: 'This field is given twice. Give it once.',
    pt: 'Este campo aparece duas vezes. Indique-o uma só vez.',
  },
  REQUIRED: { status: 400, en: 'This field is required.', pt: 'Este campo é obrigatório.' },
  INVALID_TYPE: { status: 400, en: 'Expected JSON type {expected}.', pt: 'Esperava-se o tipo JSON {expected}.' },
  INVALID_VALUE: { status: 400, en: 'Must be one of: {allowed}.', pt: 'Tem de ser um de: {allowed}.' },
  INVALID_FORMAT: { status: 400, en: 'Must have the form {format}.', pt: 'Tem de ter a forma {format}.' },
  TOO_LONG: { status: 400, en: 'At most {limit} characters.', pt: 'No máximo {limit} caracteres.' },
  TOO_SHORT: { status: 400, en: 'At least {limit} {characters}.', pt: 'No mínimo {limit} {characters}.' },
  TOO_MANY: { status: 400, en: 'At most {limit} entries.', pt: 'No máximo {limit} entradas.' },
  TOO_FEW: { status: 400, en: 'At least {limit} {entries}.', pt: 'No mínimo {limit} {entries}.' },
  TOO_SMALL: { status: 400, en: 'Too small: it has to be {limit}.', pt: 'Demasiado pequeno: tem de ser {limit}.' },
  TOO_LARGE: { status: 400, en: 'Too large: it has to be {limit}.', pt: 'Demasiado grande: tem de ser {limit}.' },
  TOO_MANY_DECIMALS: { status: 400, en: 'At most {limit} decimals.', pt: 'No máximo {limit} casas decimais.' },
  NUMBER_NOT_EXACT: {
    status: 400,
    en: 'This number has more digits than can be kept exactly. Send fewer digits.',
    pt: 'Este número tem mais algarismos do que é possível guardar com exatidão. Envie menos algarismos.',
  },
  INVALID_CHARACTER: {
    status: 400,
    en: 'The character {character} cannot be printed or exported. Remove or replace it.',
    pt: 'O carácter {character} não pode ser impresso nem exportado. Remova-o ou substitua-o.',
  },
  OVERLOADED_TEXT: {
    status: 400,
    en: 'Holds more than 30 marks on one character, or too many characters that stand for several (code {character}). Write it without them.',
    pt: 'Contém mais de 30 sinais sobre um carácter, ou demasiados caracteres que valem por vários (código {character}). Escreva-o sem eles.',
  },
  LINE_BREAK: {
    status: 400,
    en: 'One line only: no line breaks and no tabs.',
    pt: 'Só uma linha: sem quebras de linha nem tabulações.',
  },
  INVALID_ID: {
    status: 400,
    en: 'Not an id of this service. Send an id as it was answered.',
    pt: 'Não é um identificador deste serviço. Envie um id tal como foi recebido.',
  },
  NIF_INVALID: {
    status: 400,
    en: 'Not a valid Portuguese NIF: nine digits with a right check digit.',
    pt: 'Não é um NIF português válido: nove algarismos com o dígito de controlo certo.',
  },
  TAX_ID_INVALID: {
    status: 400,
    en: 'Not a valid tax number for {country}. Correct the number, or the country.',
    pt: 'Não é um número fiscal válido para {country}. Corrija o número ou o país.',
  },
  NIF_RESERVED: {
    status: 400,
    en: '999999990 stands for the final consumer; leave the number out instead.',
    pt: '999999990 representa o consumidor final; omita o número.',
  },
  EXEMPTION_REQUIRED: {
    status: 400,
    en: 'An exempt line needs vatExemptionReason, an M code in force.',
    pt: 'Uma linha isenta precisa de vatExemptionReason, um código M em vigor.',
  },
  EXEMPTION_NOT_ALLOWED: {
    status: 400,
    en: 'vatExemptionReason is only for vatRate EXEMPT.',
    pt: 'vatExemptionReason só se usa com vatRate EXEMPT.',
  },
  EXEMPTION_UNKNOWN: {
    status: 400,
    en: '{code} is not an exemption code in force on {date}. In force that day: {allowed}.',
    pt: '{code} não é um código de isenção em vigor em {date}. Em vigor nesse dia: {allowed}.',
  },
  VAT_RATE_NOT_IN_FORCE: {
    status: 400,
    en: 'The {vatRate} rate of {region} on {date} is {expected}. Correct the rate, or the date.',
    pt: 'A taxa {vatRate} de {region} em {date} é {expected}. Corrija a taxa ou a data.',
  },
  DISCOUNT_OUT_OF_RANGE: {
    status: 400,
    en: 'A discount is between 0 and 100 % of what it is taken from.',
    pt: 'Um desconto fica entre 0 e 100 % do valor a que se aplica.',
  },
  DISCOUNT_INCOMPLETE: {
    status: 400,
    en: 'Give the discount type together with its own value: PERCENT with the percentage, AMOUNT with the amount.',
    pt: 'Indique o tipo de desconto com o valor respetivo: PERCENT com a percentagem, AMOUNT com o valor.',
  },
  WITHHOLDING_INCOMPLETE: {
    status: 400,
    en: 'Withholding needs both withholdingTaxType and withholdingTaxPercent.',
    pt: 'A retenção precisa de withholdingTaxType e withholdingTaxPercent.',
  },
  WITHHOLDING_NOT_AVAILABLE: {
    status: 400,
    en: 'This item has no withholding tax configured. Leave withholdingTaxEnabled out, or configure it on the item.',
    pt: 'Este artigo não tem retenção na fonte configurada. Omita withholdingTaxEnabled ou configure-a no artigo.',
  },
  AMOUNT_TOO_LARGE: {
    status: 400,
    en: 'The amounts of this document are too large. The total must stay below 10 000 000 000 000.00.',
    pt: 'Os valores deste documento são demasiado grandes. O total tem de ficar abaixo de 10 000 000 000 000,00.',
  },
  EXCHANGE_RATE_REQUIRED: {
    status: 400,
    en: 'A document in another currency than EUR needs exchangeRate (EUR per 1 unit).',
    pt: 'Um documento noutra moeda que não EUR precisa de exchangeRate (EUR por 1 unidade).',
  },
  EXCHANGE_RATE_NOT_ALLOWED: {
    status: 400,
    en: 'exchangeRate is only for other currencies than EUR.',
    pt: 'exchangeRate só se usa com moedas diferentes de EUR.',
  },
  EXCHANGE_RATE_IMPLAUSIBLE: {
    status: 400,
    en: 'exchangeRate is how many euros one {currency} is worth, from {least} to {most}; {rate} cannot be right. If it is the other way round, send 1 divided by it.',
    pt: 'exchangeRate indica quantos euros vale 1 {currency}, de {least} a {most}; {rate} não pode estar certo. Se a taxa estiver invertida, envie 1 a dividir por esse valor.',
  },
  CAE_NOT_OF_COMPANY: {
    status: 400,
    en: "This activity code is not one of the company's. Use one of: {allowed}.",
    pt: 'Este código de atividade não é da empresa. Use um de: {allowed}.',
  },
  UNKNOWN_CUSTOMER: {
    status: 400,
    en: 'There is no such customer. GET /customers lists those there are.',
    pt: 'Não existe esse cliente. GET /customers mostra os que existem.',
  },
  UNKNOWN_ITEM: {
    status: 400,
    en: 'There is no such item. GET /items lists those there are.',
    pt: 'Não existe esse artigo. GET /items mostra os que existem.',
  },
  ARCHIVED: {
    status: 400,
    en: 'This record is archived and cannot be used. Choose another one, or bring it back with isArchived false.',
    pt: 'Este registo está arquivado e não pode ser usado. Escolha outro ou recupere-o com isArchived false.',
  },
  UNKNOWN_SERIES: {
    status: 400,
    en: 'There is no such active series for this document type. GET /series lists those that are active.',
    pt: 'Não existe essa série ativa para este tipo de documento. GET /series mostra as que estão ativas.',
  },
  TRAINING_DIFFERS: {
    status: 400,
    en: 'The series {series} does not fit: training documents and real ones are not made of each other. Name a series (seriesId) of the same kind as the document it is about.',
    pt: 'A série {series} não serve: documentos de formação e documentos reais não podem ser feitos uns dos outros. Indique uma série (seriesId) do mesmo tipo que a do documento a que se refere.',
  },
  CASH_VAT_NOT_IN_FORCE: {
    status: 400,
    en: 'The series {series} is of the cash VAT scheme, and the company is not in it on {date}. Name another series, or correct the scheme with: certo company cash-vat.',
    pt: 'A série {series} é do regime de IVA de caixa e a empresa não está nesse regime em {date}. Indique outra série ou corrija o regime com: certo company cash-vat.',
  },
  CASH_VAT_EXCLUDED: {
    status: 400,
    en: 'The cash VAT scheme is for supplies to taxable persons in Portugal: no final consumers, exports, supplies within the EU or reverse charge. Issue this document in another series than {series}.',
    pt: 'O regime de IVA de caixa abrange operações com sujeitos passivos em Portugal; não abrange consumidores finais, exportações, operações intracomunitárias nem autoliquidação. Emita este documento noutra série que não a {series}.',
  },
  CASH_VAT_DIFFERS: {
    status: 400,
    en: 'The series {series} does not fit: notes and receipts stand in the same VAT scheme (cash VAT or not) as the invoice they are about. Name another series.',
    pt: 'A série {series} não serve: notas e recibos ficam no mesmo regime de IVA (de caixa ou não) que a fatura a que se referem. Indique outra série.',
  },
  UNKNOWN_TEMPLATE: {
    status: 400,
    en: 'There is no such template. GET /templates lists those there are.',
    pt: 'Não existe esse modelo. GET /templates mostra os que existem.',
  },
  UNKNOWN_PARENT: {
    status: 400,
    en: 'There is no issued invoice with this id. Give the id of one that is issued and not cancelled.',
    pt: 'Não existe nenhuma fatura emitida com este id. Indique o id de uma fatura emitida e não anulada.',
  },
  PAYMENT_NOT_ALLOWED: {
    status: 400,
    en: 'payment belongs to INVOICE_RECEIPT and SIMPLIFIED_INVOICE only.',
    pt: 'payment só pertence a INVOICE_RECEIPT e SIMPLIFIED_INVOICE.',
  },
  PARENT_NOT_ALLOWED: {
    status: 400,
    en: 'parentInvoiceId and reason belong to DEBIT_NOTE only.',
    pt: 'parentInvoiceId e reason só pertencem a DEBIT_NOTE.',
  },
  PARENT_DIFFERS: {
    status: 400,
    en: 'A note has the customer, currency and exchange rate of the invoice that it corrects: {expected}.',
    pt: 'Uma nota tem o cliente, a moeda e a taxa de câmbio da fatura que corrige: {expected}.',
  },
  RATE_NOT_OF_PARENT: {
    status: 400,
    en: 'The lines of a debit note have the VAT rates and exemption codes of the invoice that it corrects: {expected}. Put what is taxed otherwise on an invoice of its own.',
    pt: 'As linhas de uma nota de débito têm as taxas de IVA e os códigos de isenção da fatura que corrige: {expected}. Fature à parte o que tem outra tributação.',
  },
  DUE_BEFORE_DATE: {
    status: 400,
    en: 'dueDate cannot be before date. Give that day or a later one.',
    pt: 'dueDate não pode ser anterior a date. Indique esse dia ou um posterior.',
  },
  DATE_TOO_EARLY: {
    status: 400,
    en: '{date} is before {earliest}, the first day that a SAF-T file has room for. Correct the date.',
    pt: '{date} é anterior a {earliest}, o primeiro dia que um ficheiro SAF-T admite. Corrija a data.',
  },
  DATE_BEFORE_PARENT: {
    status: 400,
    en: '{number}, which this document is about, is dated {parentDate}; this one cannot be dated {date}. Give that day or a later one.',
    pt: 'O documento {number}, a que este se refere, tem data {parentDate}; este não pode ter data {date}. Indique esse dia ou um posterior.',
  },
  PAYMENT_AFTER_DATE: {
    status: 400,
    en: 'The payment is dated {paymentDate}, after the document ({date}), which says that it is paid. Correct one of the days, or issue an INVOICE and register the payment when it comes.',
    pt: 'O pagamento tem data {paymentDate}, posterior à do documento ({date}), que o dá por pago. Corrija uma das datas, ou emita uma INVOICE e registe o pagamento quando chegar.',
  },
  MOVEMENT_IN_PAST: {
    status: 400,
    en: 'The transport would start at {start}, before it is issued ({now}). Give a movementDate that is still to come.',
    pt: 'O transporte começaria em {start}, antes da emissão ({now}). Indique um movementDate ainda por vir.',
  },
  END_BEFORE_START: {
    status: 400,
    en: 'movementEndDate cannot be before movementDate.',
    pt: 'movementEndDate não pode ser anterior a movementDate.',
  },
  PERIOD_BACKWARDS: {
    status: 400,
    en: 'toDate cannot be before fromDate.',
    pt: 'toDate não pode ser anterior a fromDate.',
  },
  PERIOD_TOO_LONG: {
    status: 400,
    en: 'At most one year at a time: toDate can be {latest} at the latest.',
    pt: 'No máximo um ano de cada vez: toDate pode ser, o mais tardar, {latest}.',
  },
  COPY_CONTRADICTED: {
    status: 400,
    en: 'isDuplicate={isDuplicate} and copy={copy} contradict each other. Give copy alone.',
    pt: 'isDuplicate={isDuplicate} e copy={copy} contradizem-se. Indique apenas copy.',
  },
  UNKNOWN_PARAMETER: {
    status: 400,
    en: 'This query parameter does not exist here. Remove it, or correct its name.',
    pt: 'Este parâmetro não existe aqui. Remova-o ou corrija o nome.',
  },

  // Records
  INVOICE_NOT_FOUND: { status: 404, en: 'There is no such invoice.', pt: 'Não existe essa fatura.' },
  IMPORTED_FROM_AT: {
    status: 400,
    en: '{number} was issued with another program and imported from the AT: it is only listed (GET /invoices?includeATInvoices=true). Read, change, settle or print it where it was issued.',
    pt: '{number} foi emitido com outro programa e importado da AT: só aparece na lista (GET /invoices?includeATInvoices=true). Consulte, altere, liquide ou imprima o documento onde foi emitido.',
  },
  CUSTOMER_NOT_FOUND: { status: 404, en: 'There is no such customer.', pt: 'Não existe esse cliente.' },
  ITEM_NOT_FOUND: { status: 404, en: 'There is no such item.', pt: 'Não existe esse artigo.' },
  TRANSPORT_NOT_FOUND: {
    status: 404,
    en: 'There is no such transport document.',
    pt: 'Não existe esse documento de transporte.',
  },
  PROPOSAL_NOT_FOUND: { status: 404, en: 'There is no such pro forma.', pt: 'Não existe essa fatura pró-forma.' },
  TEMPLATE_NOT_FOUND: { status: 404, en: 'There is no such template.', pt: 'Não existe esse modelo.' },
  TEMPLATE_FORMAT: {
    status: 400,
    en: 'This template is not made for {format}: choose another template, or one of its formats: {formats}.',
    pt: 'Este modelo não é para {format}: escolha outro modelo, ou um dos formatos dele: {formats}.',
  },
  FILE_NOT_FOUND: {
    status: 404,
    en: 'There is no such file. Ask for a new link.',
    pt: 'Não existe esse ficheiro. Peça uma nova ligação.',
  },
  LINK_EXPIRED: {
    status: 410,
    en: 'This link has expired. Ask for a new one.',
    pt: 'Esta ligação expirou. Peça uma nova.',
  },
  RECORD_NOT_OWNED: {
    status: 403,
    en: 'This record belongs to another application. Only its owner may change it.',
    pt: 'Este registo pertence a outra aplicação. Só esta o pode alterar.',
  },

  // State and rules
  INVALID_STATE: {
    status: 400,
    en: 'The document is {status}; in that state this cannot be done. Only a draft can be changed, issued or deleted, and only an issued document paid, corrected or cancelled.',
    pt: 'O documento está no estado {status}, no qual isto não é possível. Só um rascunho pode ser alterado, emitido ou eliminado, e só um documento emitido pode ser pago, corrigido ou anulado.',
  },
  USE_OTHER_ENDPOINT: {
    status: 400,
    en: '{type} documents are made through {route}.',
    pt: 'Os documentos do tipo {type} fazem-se através de {route}.',
  },
  DRAFT_CHANGED: {
    status: 400,
    en: 'The draft changed after you read it. Read it again and issue with its current updatedAt.',
    pt: 'O rascunho mudou depois de o ler. Leia-o de novo e emita com o updatedAt atual.',
  },
  NOT_READY: {
    status: 400,
    en: 'The company is not ready to issue {type}: {reasons}. {remedy} See also /docs/readiness.',
    pt: 'A empresa não está pronta para emitir documentos do tipo {type}: {reasons}. {remedy} Veja também /docs/readiness.',
  },
  SERIES_NOT_ACTIVE: {
    status: 400,
    en: 'The series that this draft names is not active: it has ended, or is being ended. Name another one of its type in seriesId (GET /series lists those that are active).',
    pt: 'A série que este rascunho indica não está ativa: terminou ou está a ser terminada. Indique outra do mesmo tipo em seriesId (GET /series mostra as que estão ativas).',
  },
  PARENT_REQUIRED: {
    status: 400,
    en: 'A debit note needs parentInvoiceId and reason before it can be issued.',
    pt: 'Uma nota de débito precisa de parentInvoiceId e reason antes de ser emitida.',
  },
  DATE_GOES_BACK: {
    status: 400,
    en: 'The last document of this series is dated {lastDate}; a new one cannot be dated {date}. Give {lastDate} or a later day, or name another series.',
    pt: 'O último documento desta série tem data {lastDate}; um novo não pode ter data {date}. Indique {lastDate} ou um dia posterior, ou outra série.',
  },
  DATE_BEFORE_SERIES: {
    status: 400,
    en: 'The series {series} starts on {firstDay}; a document in it cannot be dated {date}. Give {firstDay} or a later day.',
    pt: 'A série {series} começa em {firstDay}; um documento desta série não pode ter data {date}. Indique {firstDay} ou um dia posterior.',
  },
  DATE_IN_FUTURE: {
    status: 400,
    en: '{date} is after today ({today}). A document cannot be issued with a future date: give today or an earlier day.',
    pt: '{date} é posterior a hoje ({today}). Um documento não pode ser emitido com data futura: indique hoje ou um dia anterior.',
  },
  SIMPLIFIED_LIMIT: {
    status: 400,
    en: 'A simplified invoice of this kind is limited to {limit} EUR; this one is {total} EUR. Use INVOICE or, if it is paid, INVOICE_RECEIPT.',
    pt: 'Uma fatura simplificada deste tipo está limitada a {limit} EUR; esta é de {total} EUR. Use INVOICE ou, se está paga, INVOICE_RECEIPT.',
  },
  QR_TOO_MANY_REGIONS: {
    status: 400,
    en: 'A document can hold at most three tax regions.',
    pt: 'Um documento pode ter no máximo três regiões fiscais.',
  },
  CLOCK_REGRESSION: {
    status: 503,
    en: 'The clock is behind the last signed document. Nothing is signed until it catches up; try again after the time in Retry-After.',
    pt: 'O relógio está atrasado em relação ao último documento assinado. Nada é assinado até recuperar o atraso; tente de novo após o tempo indicado em Retry-After.',
  },
  INTEGRITY_BROKEN: {
    status: 503,
    en: 'A check of the books found something that was changed outside the program. Nothing is issued or cancelled until the operator has examined and resolved it (certo verify).',
    pt: 'Uma verificação dos registos encontrou algo que foi alterado fora do programa. Nada é emitido nem anulado até o operador o examinar e resolver (certo verify).',
  },
  CUSTOMER_NIF_LOCKED: {
    status: 400,
    en: 'This customer has issued documents; the NIF cannot change. Create a new customer.',
    pt: 'Este cliente tem documentos emitidos; o NIF não pode mudar. Crie um novo cliente.',
  },
  CUSTOMER_COUNTRY_LOCKED: {
    status: 400,
    en: 'This customer has issued documents with a tax number; its country cannot change. Create a new customer.',
    pt: 'Este cliente tem documentos emitidos com número fiscal; o país não pode mudar. Crie um novo cliente.',
  },
  CUSTOMER_NAME_LOCKED: {
    status: 400,
    en: 'This customer has issued documents and no NIF; the name cannot change. Create a new customer.',
    pt: 'Este cliente tem documentos emitidos e não tem NIF; o nome não pode mudar. Crie um novo cliente.',
  },
  ITEM_NAME_LOCKED: {
    status: 400,
    en: 'This item is used in issued documents; its name cannot change. Create a new item.',
    pt: 'Este artigo consta de documentos emitidos; o nome não pode mudar. Crie um novo artigo.',
  },
  SYSTEM_CUSTOMER: {
    status: 400,
    en: 'The built-in final consumer cannot be changed or archived.',
    pt: 'O consumidor final do sistema não pode ser alterado nem arquivado.',
  },
  SYSTEM_RESERVED: {
    status: 400,
    en: 'There is one final consumer, and it is built in. Leave system out, or send false.',
    pt: 'Só existe um consumidor final, o do sistema. Omita system ou envie false.',
  },
  DRAFT_NOT_PRINTABLE: {
    status: 400,
    en: 'A draft cannot be printed. Issue it first.',
    pt: 'Um rascunho não pode ser impresso. Emita-o primeiro.',
  },
  NOT_PAYABLE: {
    status: 400,
    en: '{type} documents are not paid through pay; only INVOICE and DEBIT_NOTE wait for a payment.',
    pt: 'Os documentos do tipo {type} não se pagam por esta via; só faturas (INVOICE) e notas de débito (DEBIT_NOTE) aguardam pagamento.',
  },
  AMOUNT_EXCEEDS_OUTSTANDING: {
    status: 400,
    en: 'The amount is more than the {outstanding} {currency} still outstanding. Give at most that, or leave it out to settle all of it.',
    pt: 'O valor excede os {outstanding} {currency} ainda em dívida. Indique no máximo esse valor, ou omita-o para liquidar tudo.',
  },
  PARENT_NOT_FOUND: {
    status: 404,
    en: 'There is no such invoice to credit. Give the id of an issued invoice.',
    pt: 'Não existe essa fatura para creditar. Indique o id de uma fatura emitida.',
  },
  NOT_CREDITABLE: {
    status: 400,
    en: 'A document of type {type} in state {status} cannot be corrected by a credit or debit note. Name an issued invoice that is not cancelled.',
    pt: 'Um documento do tipo {type} no estado {status} não pode ser corrigido por uma nota de crédito ou de débito. Indique uma fatura emitida e não anulada.',
  },
  UNKNOWN_LINE: {
    status: 400,
    en: 'The original has no such line. Use an items[].id of the original.',
    pt: 'O original não tem essa linha. Use um items[].id do original.',
  },
  DUPLICATE_LINE: {
    status: 400,
    en: 'This line is given twice. Give it once, with the whole quantity.',
    pt: 'Esta linha aparece duas vezes. Indique-a uma só vez, com a quantidade toda.',
  },
  QUANTITY_EXCEEDS_OPEN: {
    status: 400,
    en: 'Still open of this line: {open}. Give at most that quantity, or leave the line out when it is 0.',
    pt: 'Quantidade ainda em aberto nesta linha: {open}. Indique no máximo essa quantidade, ou omita a linha se for 0.',
  },
  NOTHING_TO_CREDIT: {
    status: 400,
    en: 'Everything on this invoice is credited already.',
    pt: 'Tudo nesta fatura já foi creditado.',
  },
  FIELD_NOT_ALLOWED: {
    status: 400,
    en: 'This field cannot be set on a {type}. Leave it out.',
    pt: 'Este campo não se aplica a documentos do tipo {type}. Omita-o.',
  },
  ALREADY_CANCELED: {
    status: 400,
    en: 'The document is cancelled already.',
    pt: 'O documento já está anulado.',
  },
  HAS_NOTES: {
    status: 400,
    en: 'The document has issued credit or debit notes ({numbers}). Cancel those first.',
    pt: 'O documento tem notas de crédito ou de débito emitidas ({numbers}). Anule-as primeiro.',
  },
  HAS_PAYMENTS: {
    status: 400,
    en: 'The document has receipts ({numbers}). Cancel those first, with this same route.',
    pt: 'O documento tem recibos ({numbers}). Anule-os primeiro, por esta mesma via.',
  },
  MOVEMENT_TOO_FAR: {
    status: 400,
    en: 'The transport starts at {start}, more than three months from now; the tax authority takes it from {from} on. Issue it then, or correct movementDate.',
    pt: 'O transporte começa em {start}, daqui a mais de três meses; a AT aceita-o a partir de {from}. Emita-o nessa altura ou corrija movementDate.',
  },
  MOVEMENT_STARTED: {
    status: 400,
    en: 'The transport started at {start}; the document cannot be cancelled any more.',
    pt: 'O transporte começou em {start}; o documento já não pode ser anulado.',
  },
  PROPOSAL_CONVERTED: {
    status: 400,
    en: 'Invoices were made of this pro forma ({numbers}); it cannot be cancelled or deleted. Cancel or credit those instead.',
    pt: 'Desta fatura pró-forma resultaram faturas ({numbers}); não pode ser anulada nem eliminada. Anule ou credite antes essas faturas.',
  },
  PROPOSAL_CANCELED: {
    status: 400,
    en: 'The pro forma {number} is cancelled; no invoice can be made of it. Make a new pro forma, or an invoice without one.',
    pt: 'A fatura pró-forma {number} está anulada; dela não pode resultar uma fatura. Crie outra fatura pró-forma, ou uma fatura sem ela.',
  },
  PROPOSAL_EXCEEDED: {
    status: 400,
    en: 'The pro forma {number} has less left of {items} than this invoice takes. Lower the quantities or convert it again.',
    pt: 'Na fatura pró-forma {number} resta menos de {items} do que esta fatura leva. Reduza as quantidades ou converta-a de novo.',
  },
  PROPOSAL_NOT_TAKEN: {
    status: 400,
    en: 'Nothing on this invoice is of the pro forma {number} that it was made of. Put back what it is for, or create an invoice without a link to the pro forma.',
    pt: 'Nada nesta fatura é da fatura pró-forma {number} de que resulta. Reponha o que dela se fatura, ou crie uma fatura sem ligação à pró-forma.',
  },
  NOTHING_TO_CONVERT: {
    status: 400,
    en: 'Everything on this pro forma is invoiced already.',
    pt: 'Tudo nesta fatura pró-forma já foi faturado.',
  },

  // Commands of the operator
  COMPANY_NOT_FOUND: {
    status: 404,
    en: 'There is no such company. See those there are with: certo company list.',
    pt: 'Não existe essa empresa. Veja as que existem com: certo company list.',
  },
  COMPANY_EXISTS: {
    status: 400,
    en: 'A company with NIF {nif} exists already. Use that one, or correct the NIF.',
    pt: 'Já existe uma empresa com o NIF {nif}. Use essa empresa ou corrija o NIF.',
  },
  SERIES_CODE_INVALID: {
    status: 400,
    en: '{code} cannot name a series: letters, digits and single . _ - between them, at most 35, not starting with AT.',
    pt: '{code} não pode identificar uma série: letras, algarismos e . _ - isolados entre eles, no máximo 35, sem começar por AT.',
  },
  SERIES_CODE_TAKEN: {
    status: 400,
    en: 'The identifier {code} was already used for this document type and cannot be used again. Choose another one.',
    pt: 'O identificador {code} já foi usado para este tipo de documento e não pode voltar a ser usado. Escolha outro.',
  },
  SERIES_NOT_CASH_VAT: {
    status: 400,
    en: 'There are no cash VAT series of {type}: only invoices, notes and receipts have them.',
    pt: 'Não existem séries de IVA de caixa do tipo {type}: só as têm faturas, notas e recibos.',
  },
  CASH_VAT_PERIOD: {
    status: 400,
    en: 'The last day of the cash VAT scheme is before its first: give a last day that is not before it.',
    pt: 'O último dia do regime de IVA de caixa é anterior ao primeiro: indique um último dia igual ou posterior.',
  },
  CASH_VAT_USED: {
    status: 400,
    en: 'Documents were issued under the cash VAT scheme outside these days ({numbers}). Choose a period that holds them.',
    pt: 'Há documentos emitidos no regime de IVA de caixa fora destes dias ({numbers}). Escolha um período que os inclua.',
  },
  NO_RECOVERY_SERIES: {
    status: 400,
    en: 'There is no active recovery series of {type}, or more than one. Register one with certo series register --kind recovery, or name it with --series.',
    pt: 'Não há nenhuma série de recuperação ativa do tipo {type}, ou há mais do que uma. Registe uma com certo series register --kind recovery ou indique-a com --series.',
  },
  RECOVERED_ALREADY: {
    status: 400,
    en: '{original} was recovered already: it is {number}. Take it out of the file.',
    pt: '{original} já foi recuperado: é {number}. Retire-o do ficheiro.',
  },
  RECOVERED_TWICE: {
    status: 400,
    en: 'The same original stands in this file already, at {place}. Take one of the two out.',
    pt: 'O mesmo original já está neste ficheiro, em {place}. Retire um dos dois.',
  },
  RECOVERED_STANDS: {
    status: 400,
    en: 'The document {number} is not lost: it stands in the books. Take it out of the file.',
    pt: 'O documento {number} não está perdido: consta dos registos. Retire-o do ficheiro.',
  },
  RECOVERED_TYPE: {
    status: 400,
    en: '{original} is the number of a document of another type: those of {type} begin with {code}. Correct the type, or the number.',
    pt: '{original} é o número de um documento de outro tipo: os de {type} começam por {code}. Corrija o tipo ou o número.',
  },
  RECOVERED_TOTAL: {
    status: 400,
    en: 'The original says {total} {currency}, and its lines give {calculated} {currency}. Correct the lines; a discount or a unit price with more decimals may be missing.',
    pt: 'O original indica {total} {currency} e as suas linhas dão {calculated} {currency}. Corrija as linhas; pode faltar um desconto ou um preço unitário com mais casas decimais.',
  },
  RECOVERED_NOTE_TOTAL: {
    status: 400,
    en: 'The original says {total} {currency}, and what it takes back of its invoice is {calculated} {currency}. Correct the lines and their quantities, or the number of the invoice.',
    pt: 'O original indica {total} {currency} e o que retira à sua fatura é {calculated} {currency}. Corrija as linhas e as suas quantidades, ou o número da fatura.',
  },
  RECOVERED_PARENT: {
    status: 400,
    en: 'There is no invoice {number} in the books, or it is one of training. Correct the number; an invoice that is lost too is recovered with its note or before it.',
    pt: 'Não há nenhuma fatura {number} nos registos, ou é de formação. Corrija o número; uma fatura que também esteja perdida recupera-se com a sua nota ou antes dela.',
  },
  RECOVERED_LINE: {
    status: 400,
    en: 'The invoice {number} has no line {line}: its lines are numbered from 1 to {lines}, as they are printed.',
    pt: 'A fatura {number} não tem a linha {line}: as suas linhas numeram-se de 1 a {lines}, pela ordem em que estão impressas.',
  },
  BACKUP_EXISTS: {
    status: 400,
    en: '{file} exists already: choose another file.',
    pt: '{file} já existe: escolha outro ficheiro.',
  },
  NOT_A_BACKUP: {
    status: 400,
    en: '{file} is not a backup of Certo, or has a newer form. Name a file that certo backup wrote.',
    pt: '{file} não é uma cópia de segurança do Certo, ou tem um formato mais recente. Indique um ficheiro escrito por certo backup.',
  },
  BACKUP_DAMAGED: {
    status: 400,
    en: 'The backup is damaged: {problem}. Use another copy of it.',
    pt: 'A cópia de segurança está danificada: {problem}. Use outro exemplar.',
  },
  BACKUP_NEWER: {
    status: 400,
    en: 'The backup was written by a newer Certo, {version} (it has {migrations}). Install that version or a later one.',
    pt: 'A cópia de segurança foi escrita por um Certo mais recente, {version} (tem {migrations}). Instale essa versão ou uma posterior.',
  },
  BACKUP_STRANGE: {
    status: 400,
    en: 'The backup, of Certo {version}, has tables that this Certo does not make: {what}. Restore it with the version that wrote it.',
    pt: 'A cópia de segurança, do Certo {version}, tem tabelas que este Certo não cria: {what}. Reponha-a com a versão que a escreveu.',
  },
  BACKUP_OF_ANOTHER: {
    status: 400,
    en: 'The backup was written under another master key than the one in {file}. Put the master key of the same installation there.',
    pt: 'A cópia de segurança foi escrita com outra chave-mestra que não a de {file}. Coloque aí a chave-mestra da mesma instalação.',
  },
  RESTORE_NOT_EMPTY: {
    status: 400,
    en: 'The database is not empty: it has {what}. A backup is restored into an empty one only; nothing was changed.',
    pt: 'A base de dados não está vazia: tem {what}. Uma cópia de segurança só se repõe numa base vazia; nada foi alterado.',
  },
  RESTORE_IN_USE: {
    status: 503,
    en: 'Another Certo uses this database: {who}. Stop it first; nothing was changed.',
    pt: 'Outro Certo usa esta base de dados: {who}. Pare-o primeiro; nada foi alterado.',
  },
  AT_CREDENTIALS_MISSING: {
    status: 400,
    en: 'The company has no working AT sub-user. Set one with: certo company credentials.',
    pt: 'A empresa não tem um subutilizador da AT válido. Defina-o com: certo company credentials.',
  },
  AT_REFUSED: {
    status: 400,
    en: 'The tax authority refused: {message} (code {code}).',
    pt: 'A AT recusou: {message} (código {code}).',
  },
  AT_UNREACHABLE: {
    status: 503,
    en: 'The tax authority does not answer: {problem}. Try again later.',
    pt: 'A AT não responde: {problem}. Tente mais tarde.',
  },
} as const satisfies Record<string, Entry>;

export type RefusalCode = keyof typeof refusals;
export type Language = 'en' | 'pt';
/** What is said in a sentence in either language. */
export type Words = Readonly<Record<Language, string>>;
export type Facts = Readonly<Record<string, string | number | Words>>;

/** One problem at one place. `pointer` is an RFC 6901 JSON pointer into the body, or "?name" for a query parameter. */
export interface Problem {
  readonly code: RefusalCode;
  readonly pointer: string;
  readonly facts?: Facts | undefined;
}

/** A clear "no": thrown anywhere, turned into problem+json at the door. Nothing was changed when it is thrown. */
export class Refusal extends Error {
  readonly code: RefusalCode;
  readonly facts: Facts;
  readonly problems: readonly Problem[];
  /** Members added to the problem body (e.g. currentUpdatedAt). */
  readonly members: Readonly<Record<string, unknown>>;
  /** Whole seconds, at least 1. */
  readonly retryAfterSeconds: number | undefined;

  constructor(
    code: RefusalCode,
    facts: Facts = {},
    more: {
      problems?: readonly Problem[];
      members?: Readonly<Record<string, unknown>>;
      retryAfterSeconds?: number;
    } = {},
  ) {
    super(code);
    this.name = 'Refusal';
    this.code = code;
    this.facts = facts;
    this.problems = more.problems ?? [];
    this.members = more.members ?? {};
    this.retryAfterSeconds = more.retryAfterSeconds;
  }

  get status(): number {
    return refusals[this.code].status;
  }
}

/** Throws INVALID_REQUEST with every problem, if there is one. */
export function refuseAll(problems: readonly Problem[]): void {
  if (problems.length > 0) throw invalid(problems);
}

/**
 * What `run` gives. Its problems, as far as they are told, are refused together with those that were `found` elsewhere; any
 * other refusal of it goes first.
 */
export function alongside<T>(
  found: readonly Problem[],
  run: () => T,
  isTold: (problem: Problem) => boolean = () => true,
): T {
  let result: T;
  try {
    result = run();
  } catch (error) {
    if (error instanceof Refusal && error.problems.length > 0) {
      refuseAll([...found, ...error.problems.filter(isTold)]);
    }
    throw error;
  }
  refuseAll(found);
  return result;
}

/** INVALID_REQUEST over the given problems. Of too many the first are told, and their count is "50+". */
export function invalid(problems: readonly Problem[]): Refusal {
  const told = problems.slice(0, most_problems);
  const count = told.length < problems.length ? `${most_problems}+` : problems.length;
  return new Refusal('INVALID_REQUEST', { count }, { problems: told });
}

/** The sentence of a code in a language, its facts filled in. */
export function sentence(code: RefusalCode, language: Language, facts: Facts = {}): string {
  const template: string = refusals[code][language];
  return template.replace(/\{(\w+)\}/g, (whole, name: string) => {
    const fact = facts[name] ?? declined(name, facts) ?? whole;
    if (typeof fact === 'object') return fact[language];
    if (figures.has(name)) return figured(String(fact), language);
    return language === 'pt' ? inPortuguese(name, String(fact)) : String(fact);
  });
}

/** Nouns that a fact declines, as {characters} follows {limit}: told without being a fact. */
const nouns: Readonly<Record<string, { readonly by: string; readonly one: Words; readonly many: Words }>> = {
  problems: {
    by: 'count',
    one: { en: 'problem', pt: 'problema' },
    many: { en: 'problems', pt: 'problemas' },
  },
  characters: {
    by: 'limit',
    one: { en: 'character', pt: 'carácter' },
    many: { en: 'characters', pt: 'caracteres' },
  },
  entries: { by: 'limit', one: { en: 'entry', pt: 'entrada' }, many: { en: 'entries', pt: 'entradas' } },
};

function declined(name: string, facts: Facts): Words | undefined {
  const noun = Object.hasOwn(nouns, name) ? nouns[name]! : undefined;
  return noun === undefined ? undefined : facts[noun.by] === 1 ? noun.one : noun.many;
}

/** Facts that are amounts, quantities and bounds: exact decimal text, or words with such figures. */
const figures: ReadonlySet<string> = new Set(['outstanding', 'total', 'calculated', 'open', 'limit']);

/** "7580.75" → "7 580.75", in Portuguese "7 580,75". */
function figured(text: string, language: Language): string {
  return text.replace(/(\d+)(?:\.(\d+))?/g, (_, whole: string, decimals: string | undefined) => {
    const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ' ');
    return decimals === undefined ? grouped : `${grouped}${language === 'pt' ? ',' : '.'}${decimals}`;
  });
}

/** States and types of documents as a Portuguese sentence calls them; the API's own name stands behind the word. */
const portuguese: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  status: {
    DRAFT: 'rascunho',
    CREATED: 'por emitir',
    PROCESSING: 'em emissão',
    SCHEDULED: 'agendado',
    ISSUED: 'emitido',
    PAID: 'pago',
    CANCELED: 'anulado',
  },
  type: Object.fromEntries(
    Object.entries(documentTypes).map(([type, { title }]) => [type, title.charAt(0).toLowerCase() + title.slice(1)]),
  ),
};

function inPortuguese(name: string, fact: string): string {
  const word = portuguese[name]?.[fact];
  return typeof word === 'string' ? `${word} (${fact})` : fact;
}

/** Throws when what can't happen happened: a fault of ours, never of the caller. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`assertion failed: ${message}`);
}
