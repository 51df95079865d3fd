/** What is shown already keeps its place; what is new comes at the end, in the order of `keys`. */
export function inOrder(
  keys: readonly string[],
  before: readonly string[],
): { readonly keys: readonly string[]; readonly fresh: readonly string[] } {
  const present = new Set(keys);
  const known = new Set(before);
  const fresh = keys.filter((key) => !known.has(key));
  return { keys: [...before.filter((key) => present.has(key)), ...fresh], fresh };
}
