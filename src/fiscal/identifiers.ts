/** Forms of ids, postal codes, activity codes, countries and currencies: pure predicates. */

const uuid = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

/** A UUID of any version, in either letter case. */
export function isUuid(text: string): boolean {
  return uuid.test(text);
}

/** Portuguese postal code "1000-001". */
export function isPostalCode(text: string): boolean {
  return /^\d{4}-\d{3}$/.test(text);
}

/** Activity code (CAE, SAF-T EACCode): five digits. Which ones a company has is not a matter of form. */
export function isCae(text: string): boolean {
  return /^\d{5}$/.test(text);
}

/** ISO 3166-1 alpha-2 plus XK (Kosovo): exactly the countries of the SAF-T 1.04_01 schema. Greece is GR. */
const countries = new Set(
  `AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ
   CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR
   GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP
   KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT
   MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW
   SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ
   UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS XK YE YT ZA ZM ZW`.split(/\s+/),
);

/** A country code of ISO 3166-1 alpha-2, upper case, or XK. */
export function isCountry(text: string): boolean {
  return countries.has(text);
}

/**
 * ISO 4217 codes of money in circulation that the SAF-T 1.04_01 schema also takes (element CurrencyCode), plus EUR.
 * Left out: withdrawn money (BGN since 2026, HRK, ANG …), funds and metals, and XCG and ZWG, which are newer than the
 * schema: a document in them could never be exported.
 */
const currencies = new Set(
  `AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF CLP CNY COP
   CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR
   IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU
   MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG
   SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD UYU UZS VED VES VND VUV
   WST XAF XCD XOF XPF YER ZAR ZMW`.split(/\s+/),
);

/** A currency code of ISO 4217, upper case, that documents may be in. */
export function isCurrency(text: string): boolean {
  return currencies.has(text);
}
