/** Format numbers like the rest of the page. */

const GROUPED = new Intl.NumberFormat('en-US');
const MISSING = '–';

/** A whole number with commas: 1,204. */
function whole(number) {
  return GROUPED.format(number);
}

/** A number with its noun: 1 capability, 1,204 capabilities. */
function counted(number, singular, plural) {
  return `${whole(number)} ${number === 1 ? singular : plural}`;
}

/** A text that begins with a capital letter. */
function capital(text) {
  return text[0].toUpperCase() + text.slice(1);
}

/**
 * A number with some decimals. A tie is rounded to the even digit, as in the part of the page that needs no
 * script; `toFixed` alone would round it up.
 */
function decimals(number, digits) {
  const isBetween = Math.abs(number * 2 ** (digits + 1)) % 2 === 1;
  if (!isBetween) return number.toFixed(digits);
  const scale = 10 ** digits;
  return (2 * Math.round(number * scale / 2) / scale).toFixed(digits);
}
