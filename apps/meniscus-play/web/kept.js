// What stays in the browser: stars, and whether there is sound. In cookies: those of a machine do not know ports, and the server has another one at each start.

const YEAR = 365 * 24 * 3600; // s

export function kept(name) {
  const begin = `currents-${name}=`;
  const found = document.cookie.split("; ").find((part) => part.startsWith(begin));
  try {
    return found ? JSON.parse(decodeURIComponent(found.slice(begin.length))) : null;
  } catch {
    return null;
  }
}

export function keep(name, value) {
  document.cookie = `currents-${name}=${encodeURIComponent(JSON.stringify(value))}; Max-Age=${YEAR}; SameSite=Strict; Path=/`;
}
