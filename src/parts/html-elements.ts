/** What the elements of a page mean for its text. */

/** Nothing in them is for a reader. */
export const UNREAD = new Set(
  "script style template noscript svg math iframe object canvas audio video datalist".split(" "),
);

/** Stand apart from what is around them, by this many breaks. */
export const BREAKS: ReadonlyMap<string, number> = new Map([
  ..."p h1 h2 h3 h4 h5 h6 blockquote pre ul ol dl table figure section article main title hr".split(" ").map(twice),
  ..."div li tr dt dd address form fieldset header footer nav aside figcaption caption select option details summary br"
    .split(" ")
    .map(once),
]);

/** Around the page's own text: links in them are many, and few are followed. */
export const FRAME = new Set("nav header footer aside".split(" "));

/** Always have an end of their own, so that one that is hidden can be passed over. */
export const CLOSED = new Set("div span section nav aside ul ol table form button dialog article".split(" "));

function twice(name: string): [string, number] {
  return [name, 2];
}

function once(name: string): [string, number] {
  return [name, 1];
}
