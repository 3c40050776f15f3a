/** Copy a text: through the clipboard if the page may use it, else by selecting the text. */

/** Copy a text; if that fails, show it in an element and select it there. Return whether it was copied. */
async function copied(text, shownIn) {
  if (await inClipboard(text)) return true;
  shownIn.textContent = text;
  shownIn.hidden = false;
  getSelection().selectAllChildren(shownIn);
  return document.execCommand('copy'); // the older way
}

/** Browsers allow the clipboard only for local pages and over HTTPS, and a person may refuse it. */
async function inClipboard(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
