// The server's address: a proxy may add a path in front. Addresses are written from "/" on, as the server
// knows them; these two translate them to the browser's addresses, and back.

const ROOT = new URL("../", import.meta.url).pathname;

/** An address of this server, as a link. */
export const at = (path) => ROOT + path.slice(1);

/** This page's address. */
export const here = () => `/${location.pathname.slice(ROOT.length)}`;
