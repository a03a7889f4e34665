/**
 * The one table of findings: what is wrong, and how to mend it, in English and European Portuguese. `{name}` is filled
 * from the finding's facts. ERROR: the schema, its assertions or the file's own figures are broken. WARNING: allowed, but
 * unusual or not to be verified from the file alone.
 */

interface Words {
  readonly severity: 'ERROR' | 'WARNING';
  readonly en: string;
  readonly pt: string;
}

const error = (en: string, pt: string): Words => ({ severity: 'ERROR', en, pt });
const warning = (en: string, pt: string): Words => ({ severity: 'WARNING', en, pt });

/** The severities as a line for people begins; programs read their names. */
export const severityWords = {
  ERROR: { en: 'ERROR', pt: 'ERRO' },
  WARNING: { en: 'WARNING', pt: 'AVISO' },
} as const;

export const findingWords = {
  // The file as XML
  ENCODING_UNKNOWN: error(
    'The file declares the encoding {encoding}. Write it in UTF-8 or Windows-1252.',
    'O ficheiro declara a codificação {encoding}. Escreva-o em UTF-8 ou Windows-1252.',
  ),
  ENCODING_WRONG: error(
    'From here on the bytes are not {encoding}, which the file declares. Write the file in the encoding that it declares.',
    'A partir daqui os bytes não são {encoding}, que o ficheiro declara. Escreva o ficheiro na codificação que declara.',
  ),
  XML_MALFORMED: error(
    'The XML is not well-formed: {problem}. Nothing behind this place was read; correct it and check again.',
    'O XML está mal formado: {problem}. Nada depois deste ponto foi lido; corrija e verifique de novo.',
  ),
  XML_CHARACTER: error(
    'The character U+{character} cannot stand in XML. Remove it; nothing behind this place was read.',
    'O carácter U+{character} não pode constar de XML. Remova-o; nada depois deste ponto foi lido.',
  ),
  XML_DOCTYPE: error(
    'A document type declaration has no place in SAF-T. Remove it; nothing behind this place was read.',
    'Uma declaração de tipo de documento não tem lugar no SAF-T. Remova-a; nada depois deste ponto foi lido.',
  ),
  XML_TOO_LONG: error(
    'One text or tag is longer than a million characters. Shorten it; nothing behind this place was read.',
    'Um texto ou elemento excede um milhão de caracteres. Encurte-o; nada depois deste ponto foi lido.',
  ),
  XML_TOO_DEEP: error(
    'Elements are nested deeper than SAF-T ever is. Nothing behind this place was read.',
    'Os elementos estão mais encaixados do que o SAF-T permite. Nada depois deste ponto foi lido.',
  ),
  XML_CUT_OFF: error(
    'The file ends before its root element does. Export it again and copy it whole.',
    'O ficheiro termina antes do seu elemento raiz. Exporte-o de novo e copie-o por inteiro.',
  ),

  // Structure (schema)
  ROOT_UNKNOWN: error(
    'The root element {path} in the namespace "{namespace}" is not that of a SAF-T (PT) file. Use AuditFile of 1.04_01.',
    'O elemento raiz {path} no espaço de nomes "{namespace}" não é de um ficheiro SAF-T (PT). Use AuditFile de 1.04_01.',
  ),
  VERSION_OTHER: error(
    'The file is of another version ({namespace}). Export version 1.04_01; it was read as if it were one.',
    'O ficheiro é de outra versão ({namespace}). Exporte a versão 1.04_01; foi lido como se o fosse.',
  ),
  NAMESPACE: error(
    '{path}/{name} is in another namespace than the root. Declare one namespace on AuditFile only.',
    '{path}/{name} está num espaço de nomes diferente do da raiz. Declare um único espaço de nomes, em AuditFile.',
  ),
  ATTRIBUTE: error(
    '{path} has the attribute {name}; SAF-T has none. Remove it.',
    '{path} tem o atributo {name}; o SAF-T não tem atributos. Remova-o.',
  ),
  TEXT_UNEXPECTED: error(
    'There is text between the elements of {path}: "{text}". Remove it.',
    'Há texto entre os elementos de {path}: "{text}". Remova-o.',
  ),
  ELEMENT_UNKNOWN: error(
    '{path} cannot hold {name}. Remove it, or correct its name.',
    '{path} não pode conter {name}. Remova-o ou corrija o nome.',
  ),
  ELEMENT_ORDER: error(
    'In {path}, {name} has to stand before {before}. Move it.',
    'Em {path}, {name} tem de estar antes de {before}. Mude-o de lugar.',
  ),
  ELEMENT_REPEATED: error(
    '{path} can hold only one of {names}; {name} is one more. Remove it.',
    '{path} só pode conter um de {names}; {name} está a mais. Remova-o.',
  ),
  ELEMENT_MISSING: error(
    '{path} lacks {name}, which is mandatory. Add it.',
    'Falta {name}, que é obrigatório, em {path}. Acrescente-o.',
  ),
  VALUE_EMPTY: error(
    '{path} is empty. Give a value, or leave the element out where it is optional.',
    '{path} está vazio. Indique um valor, ou omita o elemento se for opcional.',
  ),
  VALUE_TOO_SHORT: error(
    '{path} needs at least {least} characters. Lengthen it.',
    '{path} precisa de pelo menos {least} caracteres. Complete-o.',
  ),
  VALUE_TOO_LONG: error(
    '{path} has {length} characters and may have {most}. Shorten it.',
    '{path} tem {length} caracteres e pode ter {most}. Encurte-o.',
  ),
  VALUE_FORM: error(
    '"{value}" in {path} has not the form of {form}. Correct it.',
    '"{value}" em {path} não tem a forma de {form}. Corrija.',
  ),
  VALUE_NOT_LISTED: error(
    '"{value}" in {path} is none of: {allowed}. Correct it.',
    '"{value}" em {path} não é nenhum de: {allowed}. Corrija.',
  ),
  VALUE_NOT_NUMBER: error(
    '"{value}" in {path} is no number. Write digits with a decimal point and no thousands separator.',
    '"{value}" em {path} não é um número. Escreva algarismos com ponto decimal, sem separador de milhares.',
  ),
  VALUE_NEGATIVE: error(
    '{path} is negative ({value}). Amounts are never below 0; DebitAmount and CreditAmount carry the sign.',
    '{path} é negativo ({value}). Os valores nunca são inferiores a 0; o sinal está em DebitAmount e CreditAmount.',
  ),
  VALUE_OUT_OF_RANGE: error(
    '{path} is {value}; it goes from {least} to {most}. Correct it.',
    '{path} é {value}; vai de {least} a {most}. Corrija.',
  ),
  VALUE_NOT_DATE: error(
    '"{value}" in {path} is no date. Write YYYY-MM-DD.',
    '"{value}" em {path} não é uma data. Escreva AAAA-MM-DD.',
  ),
  VALUE_NOT_TIME: error(
    '"{value}" in {path} is no date and time. Write YYYY-MM-DDThh:mm:ss.',
    '"{value}" em {path} não é uma data e hora. Escreva AAAA-MM-DDThh:mm:ss.',
  ),
  TIME_WITH_ZONE: error(
    '"{value}" in {path} has a zone or a fraction of a second. Write local time to the second.',
    '"{value}" em {path} tem fuso ou fração de segundo. Escreva a hora local até ao segundo.',
  ),

  // Keys and references (schema)
  KEY_REPEATED: error(
    '{name} {value} stands there already, in line {first}. Export each only once.',
    '{name} {value} já consta da linha {first}. Exporte cada um só uma vez.',
  ),
  NUMBER_REPEATED: error(
    'The document {number} is there twice. Export each document once.',
    'O documento {number} está repetido. Exporte cada documento uma só vez.',
  ),
  REFERENCE_UNKNOWN: error(
    '{name} {value} is not in MasterFiles. Export its record there.',
    '{name} {value} não consta de MasterFiles. Exporte aí a sua ficha.',
  ),

  // Assertions of the schema (XSD 1.1)
  EXEMPTION_REASON_MISSING: error(
    'The tax is 0 and TaxExemptionReason is missing. Give reason and code of the exemption.',
    'O imposto é 0 e falta TaxExemptionReason. Indique o motivo e o código da isenção.',
  ),
  EXEMPTION_NOT_EXPECTED: error(
    'TaxExemptionReason stands on a line with tax {tax}. It belongs to tax 0 only: remove it, or correct the tax.',
    'TaxExemptionReason consta de uma linha com imposto {tax}. Só pertence ao imposto 0: remova-o ou corrija o imposto.',
  ),
  EXEMPTION_INCOMPLETE: error(
    'TaxExemptionReason and TaxExemptionCode come together; {name} is missing. Add it.',
    'TaxExemptionReason e TaxExemptionCode vão sempre juntos; falta {name}. Acrescente-o.',
  ),
  TAX_BASE_WITH_VALUE: error(
    'A line with TaxBase has UnitPrice and amount 0; here {name} is {value}. Remove TaxBase or correct the value.',
    'Uma linha com TaxBase tem UnitPrice e valor 0; aqui {name} é {value}. Remova TaxBase ou corrija o valor.',
  ),
  RC_WITHOUT_TAX: error(
    'Each line of an RC receipt needs Tax. Tell the rate; one line per rate.',
    'Cada linha de um recibo RC precisa de Tax. Indique a taxa; uma linha por taxa.',
  ),
  ACCOUNT_CODE_MISSING: error(
    'An account of category {category} needs {name}. Add it.',
    'Uma conta da categoria {category} precisa de {name}. Acrescente-o.',
  ),
  ACCOUNT_CODE_NOT_EXPECTED: error(
    'An account of category {category} has no {name}. Remove it.',
    'Uma conta da categoria {category} não tem {name}. Remova-o.',
  ),

  // Header
  NIF_WRONG: error(
    '{value} in {name} is not a NIF: its check digit is wrong. Correct it.',
    '{value} em {name} não é um NIF: o dígito de controlo está errado. Corrija.',
  ),
  PERIOD_REVERSED: error(
    'EndDate {to} is before StartDate {from}. Correct them.',
    'EndDate {to} é anterior a StartDate {from}. Corrija.',
  ),
  FISCAL_YEAR: warning(
    'FiscalYear {value} does not go with the period from {from}. It is the year in which the tax period starts.',
    'FiscalYear {value} não condiz com o período desde {from}. É o ano em que começa o período de tributação.',
  ),

  // Masters
  CUSTOMER_NIF_WRONG: warning(
    'The customer {value} of PT has the tax number {nif}, which is no NIF. Correct it, or use 999999990.',
    'O cliente {value} de PT tem o número fiscal {nif}, que não é um NIF. Corrija, ou use 999999990.',
  ),
  TAX_NOT_IN_TABLE: warning(
    'The tax {tax} is used and not in the TaxTable. Export an entry for it.',
    'O imposto {tax} é usado e não consta da TaxTable. Exporte uma entrada para ele.',
  ),

  // Numbers, dates and signatures
  NUMBER_GAP: error(
    'Numbers missing in the series {series}: {missing}. Export every document of the period; numbers have no gaps.',
    'Números em falta na série {series}: {missing}. Exporte todos os documentos do período; a numeração não tem falhas.',
  ),
  NUMBER_ORDER: warning(
    '{number} stands after {previous}. Export each series in order of number; its signature was not verified.',
    '{number} está depois de {previous}. Exporte cada série por ordem de número; a assinatura não foi verificada.',
  ),
  TYPE_NOT_OF_SERIES: error(
    'The internal code of {number} serves both {first} and {type}. One code belongs to one type of document.',
    'O código interno de {number} serve {first} e {type}. Um código pertence a um só tipo de documento.',
  ),
  DATE_GOES_BACK: error(
    'The date {date} is before that of the document before it in the series ({previous}). Dates follow the numbers.',
    'A data {date} é anterior à do documento anterior da série ({previous}). As datas seguem a numeração.',
  ),
  DATE_BEFORE_PARENT: warning(
    'The document is dated {date}, before {named} of {namedDate}, which it names. Check both: what is corrected, settled or invoiced was there already.',
    'O documento tem data {date}, anterior à de {named}, de {namedDate}, que ele indica. Verifique ambos: o que se retifica, liquida ou fatura já existia.',
  ),
  ENTRY_GOES_BACK: error(
    'SystemEntryDate {date} is before that of the document before it in the series ({previous}). Times follow the numbers.',
    'SystemEntryDate {date} é anterior ao do documento anterior da série ({previous}). As horas seguem a numeração.',
  ),
  DATE_OUTSIDE_PERIOD: error(
    'The document is dated {date}, outside the period of the file ({from} to {to}). Export only documents of the period.',
    'O documento tem data {date}, fora do período do ficheiro ({from} a {to}). Exporte só documentos do período.',
  ),
  STATUS_BEFORE_ENTRY: warning(
    'The status dates from {status}, before the document was entered ({entry}). Correct the status date.',
    'O estado é de {status}, anterior ao registo do documento ({entry}). Corrija a data do estado.',
  ),
  ATCUD_FORM: error(
    'ATCUD "{value}" is not a validation code, a hyphen and the number. Export it as CODE12345-1, without "ATCUD:".',
    'O ATCUD "{value}" não é um código de validação, um hífen e o número. Exporte-o como CODE12345-1, sem "ATCUD:".',
  ),
  ATCUD_NUMBER: error(
    'ATCUD {value} does not end in the number of {number}. Export the one that was printed.',
    'O ATCUD {value} não termina no número de {number}. Exporte o que foi impresso.',
  ),
  ATCUD_CODE: error(
    'ATCUD {value} has another validation code than the series had before ({code}). A series has one.',
    'O ATCUD {value} tem um código de validação diferente do que a série tinha ({code}). Uma série tem um só.',
  ),
  ATCUD_ZERO: warning(
    'ATCUD is 0. Since 2023-01-01 each document carries the code of its series.',
    'O ATCUD é 0. Desde 2023-01-01 cada documento leva o código da sua série.',
  ),
  HASH_ZERO: error(
    'Hash is 0 where the signature of {number} has to stand. Export the one that was made; 0 with HashControl 0 is for programs without certificate only.',
    'Hash é 0 onde tem de estar a assinatura de {number}. Exporte a que foi feita; 0 com HashControl 0 é só para programas não certificados.',
  ),
  HASH_FORM: error(
    'Hash is neither a signature (172 characters of Base64) nor 0. Export it unchanged.',
    'Hash não é uma assinatura (172 caracteres Base64) nem 0. Exporte-o sem alterações.',
  ),
  HASH_WRONG: error(
    'The signature of {number} is not that of its date, time, number, total and the signature before. One of them was changed after signing.',
    'A assinatura de {number} não corresponde à data, hora, número, total e assinatura anterior. Algum foi alterado depois de assinado.',
  ),
  HASH_CONTROL_OTHER: error(
    'HashControl says key version {version}, but {number} was signed with the key of version {other}. Export the version that it was signed with.',
    'HashControl indica a versão {version} da chave, mas {number} foi assinado com a chave da versão {other}. Exporte a versão com que foi assinado.',
  ),
  HASH_KEY_UNKNOWN: warning(
    'There is no public key of version {version}; signatures made with it were not verified. Hand that key in too.',
    'Não há chave pública da versão {version}; as assinaturas feitas com ela não foram verificadas. Indique também essa chave.',
  ),
  HASH_UNVERIFIED: warning(
    '{number} is the first document of its series here and follows one of an earlier file; its own signature cannot be verified.',
    '{number} é o primeiro documento da série aqui e segue-se a um de outro ficheiro; a sua assinatura não pode ser verificada.',
  ),
  SOURCE_MISMATCH: warning(
    'HashControl {value} does not go with SourceBilling {source}. P has the key version, I the origin, M the recovered document.',
    'HashControl {value} não condiz com SourceBilling {source}. P leva a versão da chave, I a origem, M o documento recuperado.',
  ),
  NOTE_ON_CANCELLED: warning(
    'The document corrects {named}, which is cancelled. A cancelled document has no notes: cancel the note, or check which of them stands.',
    'O documento retifica {named}, que está anulado. Um documento anulado não tem notas: anule a nota ou verifique qual deles vale.',
  ),
  RECOVERED_TWICE: error(
    '{original} was recovered already, by the document in line {first}. An original is recovered once: cancel one of the two.',
    '{original} já foi recuperado, pelo documento da linha {first}. Um original recupera-se uma só vez: anule um dos dois.',
  ),
  INVOICED_NOT_TOLD: error(
    'The invoice in line {invoice} was made of {number}, which has {name} {value}. Export F: it was invoiced, even if in part.',
    'A fatura da linha {invoice} provém de {number}, que tem {name} {value}. Exporte F: foi faturado, ainda que em parte.',
  ),
  CANCEL_REASON_MISSING: warning(
    'The document is cancelled and no Reason says why. Export the reason.',
    'O documento está anulado e nenhum Reason diz porquê. Exporte o motivo.',
  ),

  // Lines
  LINE_NUMBER: error(
    'The line is numbered {value}; line {expected} comes here. Number lines 1, 2, 3 as printed.',
    'A linha tem o número {value}; aqui vem a linha {expected}. Numere as linhas 1, 2, 3 como impressas.',
  ),
  LINE_AMOUNT: error(
    '{quantity} × {price} is {expected}, the line says {value}. Export UnitPrice after discounts, with 6 decimals or more.',
    '{quantity} × {price} dá {expected}, a linha diz {value}. Exporte UnitPrice depois de descontos, com 6 casas decimais ou mais.',
  ),
  LINE_PRICE_ROUNDED: warning(
    '{quantity} × {price} is {expected}, the line says {value}: the price is rounded too far for the quantity, and other validators may object. Export UnitPrice with more decimals.',
    '{quantity} × {price} dá {expected}, a linha diz {value}: o preço está demasiado arredondado para a quantidade, e outros validadores podem objetar. Exporte UnitPrice com mais casas decimais.',
  ),
  SIDE: warning(
    '{type} documents use {expected}; this line uses {name}. Change the side.',
    'Os documentos {type} usam {expected}; esta linha usa {name}. Troque o lado.',
  ),
  REFERENCES_MISSING: error(
    'A {type} names in References the invoice that it corrects. Add References with Reference and Reason.',
    'Um documento {type} indica em References a fatura que retifica. Acrescente References com Reference e Reason.',
  ),
  REFERENCES_NOT_EXPECTED: error(
    'References belongs to NC and ND only; this is {type}. Use OrderReferences for the document that this one came from.',
    'References só pertence a NC e ND; este é {type}. Use OrderReferences para o documento de origem.',
  ),
  EXEMPTION_CODE_UNKNOWN: error(
    "{value} is not a code of the AT's table of exemptions. Use the code that applies.",
    '{value} não é um código da tabela de isenções da AT. Use o código aplicável.',
  ),
  EXEMPTION_CODE_ENDED: warning(
    '{value} was not in force on {date}. Use the code that applied that day.',
    '{value} não estava em vigor em {date}. Use o código aplicável nesse dia.',
  ),
  RATE_NOT_IN_FORCE: warning(
    '{code} in {region} was {expected} % on {date}, the line says {value} %. Check rate and TaxPointDate.',
    '{code} em {region} era {expected} % em {date}, a linha diz {value} %. Verifique a taxa e TaxPointDate.',
  ),

  // Totals
  GROSS_TOTAL: error(
    'GrossTotal {value} is not NetTotal plus TaxPayable ({expected}). Correct the totals.',
    'GrossTotal {value} não é NetTotal mais TaxPayable ({expected}). Corrija os totais.',
  ),
  GROSS_TOTAL_FORM: error(
    'GrossTotal {value} is not written as it is signed. Export it with exactly two decimals, such as 184.50, and nothing in front.',
    'GrossTotal {value} não está escrito como se assina. Exporte-o com exatamente duas casas decimais, como 184.50, e sem nada antes.',
  ),
  NET_TOTAL: error(
    'NetTotal {value} is not the sum of the lines ({expected}). Correct lines or total.',
    'NetTotal {value} não é a soma das linhas ({expected}). Corrija as linhas ou o total.',
  ),
  TAX_TOTAL: error(
    'TaxPayable {value} is not the tax of the lines ({expected}). Correct rates or total.',
    'TaxPayable {value} não é o imposto das linhas ({expected}). Corrija as taxas ou o total.',
  ),
  PAYMENT_MISSING: error(
    'An FR is paid when it is issued and tells how: add Payment to DocumentTotals.',
    'Uma FR é paga na emissão e diz como: acrescente Payment a DocumentTotals.',
  ),
  PAYMENT_SUM: error(
    'The payments sum to {value}; GrossTotal without withholding is {expected}. Correct them.',
    'Os pagamentos somam {value}; GrossTotal sem retenções é {expected}. Corrija.',
  ),
  SECTION_COUNT: error(
    '{name} says {value}, the section has {expected}. Count every document, cancelled ones too.',
    '{name} diz {value}, a secção tem {expected}. Conte todos os documentos, incluindo anulados.',
  ),
  SECTION_SUM: error(
    '{name} says {value}, the lines sum to {expected}. Sum the lines without documents of status {leftOut}.',
    '{name} diz {value}, as linhas somam {expected}. Some as linhas sem os documentos no estado {leftOut}.',
  ),
} as const satisfies Record<string, Words>;
