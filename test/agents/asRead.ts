const entities: Readonly<Record<string, string>> = { "&lt;": "<", "&gt;": ">", "&amp;": "&" };

/** A message as its reader should read it: a last line says which characters are written differently. */
export function asRead(given: string): string {
  const [, text = "", told = ""] = /^([^]*)\n\[(?:read )?(.*)\]\s*$/.exec(given) ?? [];
  const [, forms] = /^(.*) without the backslash$/.exec(told) ?? [];
  if (forms !== undefined)
    return forms.split(" and ").reduce((before, form) => before.replaceAll(form, () => form.replace("\\", "")), text);
  if (told === "&lt; &gt; &amp; mean the characters themselves")
    return text.replace(/&(?:lt|gt|amp);/g, (entity) => entities[entity]!);
  return given;
}
