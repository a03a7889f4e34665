/**
 * The other side of the WS-Security header: decrypts it for real and checks what the AT checks, with the AT's numbers.
 * Source: authentication tables of the manuals (invoice elements and transport number some codes differently).
 */

import type { KeyObject } from 'node:crypto';
import { constants, createDecipheriv, createPrivateKey, privateDecrypt } from 'node:crypto';
import { isNif } from '../../fiscal/nif.ts';
import type { XmlElement } from '../read-xml.ts';
import { childrenOf } from '../read-xml.ts';
import { securityNamespace } from '../wsse.ts';
import { recentKeys } from './recent-keys.ts';

export interface Refusal {
  readonly code: number;
  readonly message: string;
}

/** Who it is, by NIF; or the AT's code and sentence, with the user as far as it could be read. */
export type Identified =
  | { readonly nif: string; readonly username: string }
  | { readonly refusal: Refusal; readonly username: string };

/** Says whether a password is right; hears every user that comes by. */
export type PasswordCheck = (username: string, password: string) => boolean;

/** A request may be at most this old, or this far ahead. */
const maxSkewMilliseconds = 5 * 60_000;

export interface Gate {
  /** `service` chooses the numbering of the codes. */
  identify(header: XmlElement | undefined, service: 'transport' | 'other'): Identified;
}

/** Knows the private half of the cipher key (PEM), and which session keys were used lately. */
export function openGate(privateKeyPem: string, now: () => Date, isRight: PasswordCheck): Gate {
  const privateKey = createPrivateKey(privateKeyPem);
  const keys = recentKeys();

  function identify(header: XmlElement | undefined, service: 'transport' | 'other'): Identified {
    const token = tokenOf(header);
    const username = only(token, 'Username') ?? '';
    const no = (code: number, message: string) => ({ refusal: { code, message }, username });
    const transport = service === 'transport';
    if (token === undefined) return transport ? no(50, 'Header inexistente ou vazio') : no(33, 'Pedido SOAP inválido');
    const wrongUser = userFault(username);
    if (wrongUser !== undefined) return { refusal: wrongUser, username };
    const [password, nonce, created] = ['Password', 'Nonce', 'Created'].map((name) => only(token, name) ?? '');
    if (!password) return no(6, 'Senha não preenchida');
    if (!nonce) return no(20, 'Chave do pedido não preenchida');
    if (!created) return no(19, 'Data de criação do pedido não preenchida');
    if (![password, nonce, created].every(isBase64)) return no(7, 'Codificação Base64 inválida');

    const unwrapped = unwrap(privateKey, nonce);
    if (unwrapped === undefined) return no(8, 'Cifra da chave pública inválida');
    if (unwrapped.length !== 16) return no(transport ? 8 : 11, 'Chave simétrica inválida');
    const time = decrypt(unwrapped, created);
    if (time === undefined) return no(16, 'Chave de sessão inválida. Não foi possível decifrar o campo Created');
    if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/.test(time) || Number.isNaN(Date.parse(time))) {
      return no(transport ? 10 : 9, 'Formato do campo Created inválido');
    }
    const here = now().getTime();
    if (Math.abs(here - Date.parse(time)) > maxSkewMilliseconds)
      return no(transport ? 11 : 10, 'Validade da credencial expirada');
    if (!keys.add(unwrapped, here)) return no(transport ? 13 : 12, 'Chave simétrica repetida');
    const clear = decrypt(unwrapped, password);
    if (clear === undefined) return no(17, 'Chave de sessão inválida. Não foi possível decifrar o campo Password');
    if (clear === '') return no(6, 'Senha não preenchida');
    if (!isRight(username, clear)) return no(99, 'Erro na validação da senha (Senha errada, acesso suspenso, etc.)');
    return { nif: username.slice(0, 9), username };
  }

  return { identify };
}

function tokenOf(header: XmlElement | undefined): XmlElement | undefined {
  const securities =
    header === undefined ? [] : childrenOf(header, 'Security').filter((s) => s.namespace === securityNamespace);
  const tokens = securities.length === 1 ? childrenOf(securities[0]!, 'UsernameToken') : [];
  return tokens.length === 1 ? tokens[0] : undefined;
}

function only(token: XmlElement | undefined, name: string): string | undefined {
  const found = token === undefined ? [] : childrenOf(token, name);
  return found.length === 1 && found[0]!.children.length === 0 ? found[0]!.text.trim() : undefined;
}

function userFault(username: string): Refusal | undefined {
  if (username === '') return { code: 1, message: 'Utilizador não preenchido' };
  if (username.length < 11 || username.length > 14) return { code: 2, message: 'Tamanho do utilizador incorreto' };
  const found = /^(\d{9})\/(.*)$/.exec(username);
  if (found === null) return { code: 4, message: 'Utilizador com formato inválido' };
  if (!isNif(found[1]!)) return { code: 3, message: 'NIF inválido' };
  return /^\d{1,4}$/.test(found[2]!) ? undefined : { code: 5, message: 'Subutilizador com formato inválido' };
}

function isBase64(text: string): boolean {
  return text.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(text);
}

/**
 * RSA without padding, then PKCS#1 v1.5 by hand (00 02, at least 8 bytes that are not 0, 00, message): Node refuses
 * RSA_PKCS1_PADDING for decryption (CVE-2023-46809), and node-forge takes 30 ms where this takes 1 ms.
 * The oracle that Node guards against does not matter here: this key protects nothing real.
 */
function unwrap(key: KeyObject, nonce: string): Buffer | undefined {
  const wrapped = Buffer.from(nonce, 'base64');
  if (wrapped.length !== (key.asymmetricKeyDetails?.modulusLength ?? 0) / 8) return undefined;
  try {
    const block = privateDecrypt({ key, padding: constants.RSA_NO_PADDING }, wrapped);
    const end = block.indexOf(0, 2);
    return block[0] === 0 && block[1] === 2 && end >= 10 ? block.subarray(end + 1) : undefined;
  } catch {
    return undefined;
  }
}

function decrypt(key: Uint8Array, base64: string): string | undefined {
  const decipher = createDecipheriv('aes-128-ecb', key, null);
  try {
    const clear = Buffer.concat([decipher.update(base64, 'base64'), decipher.final()]);
    return new TextDecoder('utf-8', { fatal: true }).decode(clear);
  } catch {
    return undefined;
  }
}
