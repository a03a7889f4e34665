/**
 * A small structural validator: element order, occurrence, choices and simple types, as the WSDLs' inline schemas say.
 * Written from the schemas by hand (the simulator ships without libxml2); a test holds it against the real schemas.
 */
import type { XmlElement } from '../read-xml.ts';

/** True when the text is a value of the type. Text arrives raw; numeric and date types collapse white space first. */
export type Simple = (text: string) => boolean;

export interface Complex {
  readonly parts: readonly Part[];
}

export interface Particle {
  readonly name: string;
  readonly type: Simple | Complex;
  readonly min: 0 | 1;
  readonly max: 1 | 'many';
}

/** Exactly one of the options; none, when every option may be absent. */
export interface Choice {
  readonly options: readonly Particle[];
}

export type Part = Particle | Choice;

export interface Fault {
  readonly problem: 'missing' | 'unexpected' | 'value';
  /** Names from the root down, joined by "/". */
  readonly path: string;
}

/** Exactly one. */
export const one = (name: string, type: Simple | Complex): Particle => ({ name, type, min: 1, max: 1 });
/** One or none. */
export const opt = (name: string, type: Simple | Complex): Particle => ({ name, type, min: 0, max: 1 });
/** One or more. */
export const some = (name: string, type: Simple | Complex): Particle => ({ name, type, min: 1, max: 'many' });
/** None or more. */
export const any = (name: string, type: Simple | Complex): Particle => ({ name, type, min: 0, max: 'many' });
/** xs:choice. */
export const choice = (...options: Particle[]): Choice => ({ options });
/** xs:sequence: the parts in this order. */
export const sequence = (...parts: Part[]): Complex => ({ parts });

/** The first fault in document order, or undefined. `namespace` is that of the children (empty: unqualified). */
export function check(
  element: XmlElement,
  type: Simple | Complex,
  namespace: string,
  path = element.name,
): Fault | undefined {
  if (typeof type === 'function') {
    return element.children.length === 0 && type(element.text) ? undefined : { problem: 'value', path };
  }
  if (element.text.trim() !== '') return { problem: 'unexpected', path };
  let at = 0;
  const take = (particle: Particle): Fault | boolean => {
    let taken = 0;
    while (isNext(element.children[at], particle, namespace) && (particle.max === 'many' || taken < 1)) {
      const child = element.children[at]!;
      const fault = check(child, particle.type, namespace, `${path}/${child.name}`);
      if (fault !== undefined) return fault;
      at += 1;
      taken += 1;
    }
    return taken >= 1;
  };
  for (const part of type.parts) {
    const options = 'options' in part ? part.options : [part];
    const particle = options.find((option) => isNext(element.children[at], option, namespace));
    const result = particle === undefined ? false : take(particle);
    if (typeof result === 'object') return result;
    if (!result && options.every((option) => option.min === 1)) return missing(element, at, path, options);
  }
  const left = element.children[at];
  return left === undefined ? undefined : { problem: 'unexpected', path: `${path}/${left.name}` };
}

/** Another element in its place means a wrong order; the end of the parent means that it is missing. */
function missing(element: XmlElement, at: number, path: string, options: readonly Particle[]): Fault {
  const found = element.children[at];
  const name = options.map((option) => option.name).join('|');
  const elsewhere = found !== undefined && options.some((o) => element.children.some((child) => child.name === o.name));
  return elsewhere
    ? { problem: 'unexpected', path: `${path}/${found.name}` }
    : { problem: 'missing', path: `${path}/${name}` };
}

function isNext(element: XmlElement | undefined, particle: Particle, namespace: string): boolean {
  return element !== undefined && element.name === particle.name && element.namespace === namespace;
}
