import { type ClaimField, isClaim, nameOfClaim } from '../config/sections/identity-headers.ts';
import { encodeHeaderValue, type Principal } from '../credentials/principal.ts';
import { FieldBlock } from '../http1/message/head-text.ts';
import { isHeaderText } from '../rules/header-text.ts';

/** A fact about the caller: a text, which is left out if it is missing or empty, or a list. */
type Fact =
  | {
      readonly text: string | null;
      /** True if commas in the text are percent-encoded where text is, as in items of lists. */
      readonly encodesCommas?: boolean;
    }
  | {
      readonly items: readonly string[];
      readonly separator: ',' | ' ';
      /** True if commas in items aren't percent-encoded, as they never were in this list. */
      readonly keepsCommas: boolean;
      /** True if the header is sent even if the list is empty. */
      readonly isAlwaysSent: boolean;
    };

/** Settings that facts depend on besides the caller. */
export interface IdentityContext {
  readonly tenant: string;
  /** Scopes of Postern's own endpoints, which no service knows. */
  readonly builtInScopes: ReadonlySet<string>;
}

const listOf = (items: readonly string[]) => ({
  items,
  separator: ',' as const,
  keepsCommas: false,
  isAlwaysSent: false,
});

const facts = {
  subject: ({ userId }) => ({ text: userId }),
  username: ({ username }) => ({ text: username }),
  display_name: ({ displayName }) => ({ text: displayName }),
  email: ({ email }) => ({ text: email }),
  method: ({ kind }) => ({ text: kind }),
  scopes: ({ scopes }) => ({ items: scopes, separator: ' ', keepsCommas: true, isAlwaysSent: true }),
  scopes_csv: ({ scopes }) => ({ items: scopes, separator: ',', keepsCommas: true, isAlwaysSent: true }),
  credential_id: ({ credentialId }) => ({ text: credentialId }),
  tenant: (_principal, { tenant }) => ({ text: tenant }),
  scope_sets: ({ scopeSetNames }) => listOf(scopeSetNames),
  service_scopes: ({ scopes }, { builtInScopes }) =>
    listOf(scopes.filter((scope) => !builtInScopes.has(scope))),
} satisfies Record<string, (principal: Principal, context: IdentityContext) => Fact>;

/** A fact about the caller that an upstream can receive in a header with a configured name. */
export type IdentityField = keyof typeof facts | ClaimField;

type FactOf = (principal: Principal, context: IdentityContext) => Fact;

/** Creates the reader of a claim: of a list, its items; of any other value, its text. */
function createClaimFact(name: string): FactOf {
  return ({ claims }) => {
    const value = claims.get(name);
    if (typeof value === 'object') return listOf(value.map(String));
    return { text: value === undefined ? null : String(value), encodesCommas: true };
  };
}

/** Encoding of the value of a header: percent-encoded as `X-Auth-` headers are, or in UTF-8. */
export type IdentityEncoding = 'percent' | 'utf8';

/** The configured value of a header: a fact, or a fact and what is made of it. */
export type IdentityValue =
  | IdentityField
  | {
      readonly from: IdentityField;
      /** Default: `percent`. */
      readonly encoding?: IdentityEncoding | undefined;
      /** Names with values, one in each: the first name that the list has, or that the text is, decides the value. */
      readonly first?: readonly Readonly<Record<string, string>>[] | undefined;
      /** The value if it is none of the names; default: the header is left out. */
      readonly else?: string | undefined;
    };

/** Returns the headers that tell one upstream who the caller is. */
export type IdentityHeadersOf = (principal: Principal) => FieldBlock;

/**
 * Creates the function for one upstream's identity headers: `X-Auth-*`, then those in `names`. A header is left out if the caller
 * lacks the fact, but scopes are sent even if there are none. The headers are computed once per principal.
 */
export function createIdentityHeaders(
  names: Readonly<Record<string, IdentityValue>>,
  context: IdentityContext,
): IdentityHeadersOf {
  const headers = Object.entries(names).map(([name, value]) => [name, createValue(value, context)] as const);
  if (headers.length === 0) return (principal) => principal.identity;
  const known = new WeakMap<Principal, FieldBlock>();
  return (principal) => {
    let block = known.get(principal);
    if (block === undefined) {
      block = new FieldBlock([
        ...principal.identity.fields,
        ...headers.flatMap(([name, read]) => {
          const value = read(principal);
          return value === null ? [] : [name, value];
        }),
      ]);
      known.set(principal, block);
    }
    return block;
  };
}

/** Creates the function that returns a header's value, as latin1; null: the header is left out. */
function createValue(
  value: IdentityValue,
  context: IdentityContext,
): (principal: Principal) => string | null {
  const given: Exclude<IdentityValue, string> = typeof value === 'string' ? { from: value } : value;
  const { from, encoding = 'percent', first, else: otherwise } = given;
  const factOf: FactOf = isClaim(from) ? createClaimFact(nameOfClaim(from)) : facts[from];
  if (first === undefined) return (principal) => written(factOf(principal, context), encoding);
  const choices = first.flatMap((choice) => Object.entries(choice));
  return (principal) => {
    const fact = factOf(principal, context);
    const held = 'items' in fact ? fact.items : [fact.text];
    const [, chosen] = choices.find(([name]) => held.includes(name)) ?? [];
    return written({ text: chosen ?? otherwise ?? null }, encoding);
  };
}

/** Writes a text, or an item of a list with commas, as latin1; null if it can't be written without a change. */
interface Writer {
  text(text: string): string | null;
  item(text: string): string | null;
}

const inUtf8 = (text: string) => (isHeaderText(text) ? Buffer.from(text).toString('latin1') : null);

const writers: Readonly<Record<IdentityEncoding, Writer>> = {
  percent: {
    text: encodeHeaderValue,
    item: (text) => encodeHeaderValue(text).replaceAll(',', '%2C'),
  },
  utf8: {
    text: inUtf8,
    item: (text) => inUtf8(text)?.replaceAll('%', '%25').replaceAll(',', '%2C') ?? null,
  },
};

function written(fact: Fact, encoding: IdentityEncoding): string | null {
  const writer = writers[encoding];
  if ('text' in fact) {
    if (fact.text === null || fact.text === '') return null;
    return fact.encodesCommas && encoding === 'percent' ? writer.item(fact.text) : writer.text(fact.text);
  }
  const { items, separator, keepsCommas, isAlwaysSent } = fact;
  if (items.length === 0) return isAlwaysSent ? '' : null;
  const isPlain = separator === ' ' || (keepsCommas && encoding === 'percent');
  const texts = items.map(isPlain ? writer.text : writer.item);
  // A list without the item that can't be written would be another list.
  if (texts.includes(null)) return null;
  const joined = texts.join(separator);
  return joined === '' && !isAlwaysSent ? null : joined;
}
