/** Copy a text: through the clipboard if the page may use it, else by showing it in an element and selecting it. */
async function copied(text, shownIn) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch { // browsers allow it only for local pages and over HTTPS, and a person may refuse it
    shownIn.textContent = text; // in one line: a selection has a line break between elements
    getSelection().selectAllChildren(shownIn);
    return document.execCommand('copy'); // the older way
  }
}
