// Where the server is: a proxy may have put a path before all of it. Addresses are written from "/" on, as the server
// knows them; these two turn them to what the browser sees, and back.

const ROOT = new URL("../", import.meta.url).pathname;

/** An address of this server, as a link. */
export const at = (path) => ROOT + path.slice(1);

/** This page's address. */
export const here = () => `/${location.pathname.slice(ROOT.length)}`;
