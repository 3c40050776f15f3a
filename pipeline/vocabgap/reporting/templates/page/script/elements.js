/** Make elements one by one and set texts as text, so that no text of a log becomes markup. */

const SVG = 'http://www.w3.org/2000/svg';

/** An element with its attributes and children; a child is a node or a text, and null is ignored. */
function make(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/** The same for an element of an SVG. */
function draw(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children.filter((child) => child !== null));
  return element;
}

/** A text from a log in a sentence; its text direction does not affect the sentence. */
function isolated(text) {
  return make('bdi', {}, text);
}

/** A sentence without line breaks in its dates. */
function dated(text) {
  return text.split(/(?<!\d)(\d{4}-\d{2}-\d{2})(?!\d)/).map((part, place) => (place % 2 ? make('time', {}, part) : part));
}

/** Concatenate lists of nodes and texts, with a text between them. */
function joined(parts, between) {
  return parts.flatMap((nodes, place) => (place ? [between, ...nodes] : nodes));
}

/** The element with an identifier. */
function part(id) {
  return document.getElementById(id);
}

function markCurrent(links, isCurrent) {
  for (const link of document.querySelectorAll(links)) link.ariaCurrent = isCurrent(link) ? 'true' : null;
}

/** A button that does something. */
function button(text, does, attributes = {}) {
  const made = make('button', { type: 'button', ...attributes }, text);
  made.addEventListener('click', does);
  return made;
}
