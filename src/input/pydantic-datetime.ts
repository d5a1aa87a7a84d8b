import { z } from 'zod';
import { asIssue, type Finding, notADateTime } from './pydantic-problems.ts';

const notAware: Finding = { type: 'timezone_aware', msg: 'Input should have timezone info' };
const notInTheFuture: Finding = { type: 'datetime_future', msg: 'Input should be in the future' };

/** Bounds of an instant, in epoch milliseconds, evaluated each time one is read. */
export interface Rfc3339Options {
  /** The instant must be after the one that this returns; absent: no bound. */
  readonly future?: () => number;
  /** The instant must not be after the one that this returns; absent: no bound. */
  readonly latest?: () => number;
}

/**
 * Schema of an instant in RFC 3339 (the grammar of §5.6; an offset is required, a leap second is refused), read as epoch
 * milliseconds; finer fractions are truncated. The year must be 1 to 9999, in UTC too.
 */
export function rfc3339(bounds: Rfc3339Options = {}) {
  return z
    .string({ error: notADateTime.msg })
    .meta({ format: 'date-time' })
    .transform((text, context): number => {
      const instant = readInstant(text);
      const result = typeof instant === 'number' ? within(bounds, instant) : instant;
      if (typeof result === 'number') return result;
      context.issues.push({ code: 'custom', input: text, ...asIssue(result) });
      return z.NEVER;
    });
}

function within({ future, latest }: Rfc3339Options, instant: number): number | Finding {
  if (future !== undefined && instant <= future()) return notInTheFuture;
  const bound = latest?.() ?? Number.POSITIVE_INFINITY;
  return instant <= bound ? instant : later(new Date(bound).toISOString());
}

/** Matches time and offset (RFC 3339 §5.6), but no leap second. The offset is optional, to report its absence separately. */
const timeAndOffset =
  /^[Tt]((?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d)(?:\.(\d+))?([Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)?$/;

const firstInstant = Date.parse('0001-01-01T00:00:00.000Z');
const lastInstant = Date.parse('9999-12-31T23:59:59.999Z');

function readInstant(text: string): number | Finding {
  const wrongDate = dateError(text);
  if (wrongDate !== undefined) return notADate(wrongDate);
  if (text.length === 10) return notAware;
  const [matched, time, fraction = '', offset] = timeAndOffset.exec(text.slice(10)) ?? [];
  if (matched === undefined) return notADate('unexpected extra characters at the end of the input');
  if (offset === undefined) return notAware;
  const milliseconds = fraction.slice(0, 3).padEnd(3, '0');
  const instant = Date.parse(`${text.slice(0, 10)}T${time}.${milliseconds}${offset.toUpperCase()}`);
  if (instant < firstInstant) return outOfRange(0);
  return instant > lastInstant ? outOfRange(10_000) : instant;
}

/** The fault of the first ten characters as a calendar date, in the words of pydantic's parser; undefined for a valid date. */
function dateError(text: string): string | undefined {
  if (text.length < 10) return 'input is too short';
  if (!/^\d{4}/.test(text)) return 'invalid character in year';
  if (text[4] !== '-') return 'invalid date separator, expected `-`';
  if (!/^\d\d/.test(text.slice(5))) return 'invalid character in month';
  if (text[7] !== '-') return 'invalid date separator, expected `-`';
  if (!/^\d\d/.test(text.slice(8))) return 'invalid character in day';
  const month = Number(text.slice(5, 7));
  const day = Number(text.slice(8, 10));
  if (month < 1 || month > 12) return 'month value is outside expected range of 1-12';
  return day < 1 || day > daysIn(Number(text.slice(0, 4)), month)
    ? 'day value is outside expected range'
    : undefined;
}

/** Number of days of a month, computed in a later year with the same leap day: `Date.UTC` reads years below 100 as 19xx. */
function daysIn(year: number, month: number): number {
  return new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate();
}

function notADate(error: string): Finding {
  const msg = `Input should be a valid datetime or date, ${error}`;
  return { type: 'datetime_from_date_parsing', msg, ctx: { error } };
}

function later(le: string): Finding {
  return { type: 'less_than_equal', msg: `Input should be less than or equal to ${le}`, ctx: { le } };
}

function outOfRange(year: number): Finding {
  const error = `year ${year} is out of range`;
  return { type: 'datetime_parsing', msg: `Input should be a valid datetime, ${error}`, ctx: { error } };
}
