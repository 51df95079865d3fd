/** The terminal writes style sheets of its own; the page's policy lets in those that carry its nonce. */
export function withStyleNonce(work: () => void): void {
  const nonce = document.querySelector<HTMLMetaElement>("meta[name=style-nonce]")?.content ?? "";
  const create = document.createElement.bind(document);
  document.createElement = ((name: string, options?: ElementCreationOptions) => {
    const element = create(name, options);
    if (element instanceof HTMLStyleElement) element.nonce = nonce;
    return element;
  }) as typeof document.createElement;
  try {
    work();
  } finally {
    document.createElement = create;
  }
}
