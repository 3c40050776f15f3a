/** Format numbers and words. */

/** A whole number with commas: 1,204. */
function whole(number) {
  return number.toLocaleString('en-US');
}

/** A number with its noun: 1 need, 1,204 needs. */
function counted(number, singular, plural = `${singular}s`) {
  return `${whole(number)} ${number === 1 ? singular : plural}`;
}

/** A text that begins with a capital letter. */
function capital(text) {
  return text[0].toUpperCase() + text.slice(1);
}
