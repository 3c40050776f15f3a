/** Copy a command: through the clipboard if the page may use it, else by selecting the text. */

const SHOWN_COPIED_FOR = 2000; // milliseconds

/** A button that copies a line. */
function copyButton(does, line) {
  return make('button', { type: 'button', class: 'copy', 'data-copy': line, 'aria-label': `Copy: ${does}` }, 'Copy');
}

/** Copy the line of the pressed button, and show if that worked. */
async function copyOnClick(event) {
  const button = event.target.closest('button.copy');
  if (!button) return;
  const copied = await inClipboard(button.dataset.copy) || selectedAndCopied(button);
  const said = copied ? 'Copied' : 'Selected: copy it with the keyboard';
  document.getElementById('panel-said').textContent = said;
  button.textContent = copied ? 'Copied' : 'Selected';
  setTimeout(() => { button.textContent = 'Copy'; }, SHOWN_COPIED_FOR);
}

/** Browsers allow the clipboard only for local pages and over HTTPS, and a person may refuse it. */
async function inClipboard(line) {
  try {
    await navigator.clipboard.writeText(line);
    return true;
  } catch {
    return false;
  }
}

/** The older way. If it fails, too, the text stays selected. */
function selectedAndCopied(button) {
  getSelection().selectAllChildren(button.parentElement.querySelector('code'));
  return document.execCommand('copy');
}
