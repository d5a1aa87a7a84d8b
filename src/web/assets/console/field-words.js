/** Words for people about problems of fields. */

/** Labels of the forms' fields, by the API's names. @type {Readonly<Record<string, string>>} */
const labels = {
  current_password: 'Current password',
  description: 'Description',
  display_name: 'Display name',
  email: 'Email',
  expires: 'Expires',
  kind: 'Kind',
  label: 'Label',
  name: 'Name',
  new_password: 'New password',
  provider: 'Identity provider',
  scope_sets: 'Scope sets',
  scopes: 'Scopes',
  sort_by: 'Order',
  sort_order: 'Order',
  subject: 'Subject',
  username: 'User name',
};

/**
 * @param {import('./api.js').Problem} problem
 * @param {Readonly<Record<string, string>>} own Labels of the form's own fields, by the API's names.
 */
export function fieldWords(problem, own) {
  const name = fieldOf(problem);
  const words = problemWords(problem);
  return name === '' ? words : `${own[name] ?? labels[name] ?? name}: ${words}`;
}

/** The API's name of the field that a problem is about; '' for none. @param {import('./api.js').Problem} problem */
export const fieldOf = ({ loc }) => String(loc[1] ?? '');

/** The words for a problem beside its field. @param {import('./api.js').Problem} problem */
export const problemWords = ({ type, msg, ctx }) => sentenceOf(type, msg, ctx ?? {});

/** @param {string} type @param {string} msg @param {Readonly<Record<string, unknown>>} ctx */
function sentenceOf(type, msg, ctx) {
  switch (type) {
    case 'missing':
      return 'This is needed.';
    case 'string_too_short':
      return ctx.min_length === 1 ? 'This is needed.' : `Use at least ${ctx.min_length} characters.`;
    case 'string_too_long':
      return `Use at most ${ctx.max_length} characters.`;
    case 'too_long':
      return `Choose at most ${ctx.max_length}.`;
    case 'too_short':
      return `Choose at least ${ctx.min_length}.`;
    case 'datetime_future':
      return 'Choose a time in the future.';
    case 'less_than_equal':
      return `Choose a time no later than ${timeOf(ctx.le)}.`;
    case 'datetime_parsing':
    case 'datetime_from_date_parsing':
    case 'datetime_type':
    case 'timezone_aware':
      return 'This is not a valid date.';
    case 'literal_error':
    case 'enum':
      return 'This is not one of the values it can have.';
    case 'bool_parsing':
    case 'int_parsing':
    case 'string_type':
      return 'This is not a value it can have.';
    case 'string_pattern_mismatch':
      return 'It has characters that can’t be used here.';
    default:
      return sentence(msg.replace(/^Value error, /, ''));
  }
}

/** @param {unknown} value */
function timeOf(value) {
  const instant = new Date(String(value));
  return Number.isNaN(instant.getTime()) ? String(value) : instant.toLocaleString();
}

/** @param {string} text */
const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1) + (text.endsWith('.') ? '' : '.');
