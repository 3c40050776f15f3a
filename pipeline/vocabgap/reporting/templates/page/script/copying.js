/** Copy a text: through the clipboard if the page may use it, else by selecting the element that shows it. */
async function copied(text, shownIn) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch { // browsers allow it only for local pages and over HTTPS, and a person may refuse it
    getSelection().selectAllChildren(shownIn);
    return document.execCommand('copy'); // the older way
  }
}
