/**
 * Creates the function that turns the target of a request into the one that is sent: without `strippedPrefix`, with which it
 * begins, and with `base` before it. Null if neither changes anything. Neither of the two ends with a slash.
 */
export function createSentTarget(strippedPrefix: string, base: string): ((target: string) => string) | null {
  if (strippedPrefix === '' && base === '') return null;
  const start = strippedPrefix.length;
  return (target) => {
    const isBare = target.length === start || target.charCodeAt(start) === question;
    return `${base}${isBare ? '/' : ''}${target.slice(start)}`;
  };
}

const question = 0x3f;
