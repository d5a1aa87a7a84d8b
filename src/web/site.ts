/** Addresses of the scripts. Each improves a page that works without it. */
export interface ScriptAddresses {
  readonly password: string;
  /** Moves a token from the address into its field. */
  readonly token: string;
  readonly copy: string;
  /** Gives the response to a form an address that can be opened. */
  readonly address: string;
  /** Reloads a page about the signed-in user when someone goes back to it. */
  readonly fresh: string;
  /** Carries the fragment of the requested page through the sign-in. */
  readonly fragment: string;
  /** Tells people that their browser blocks cookies. */
  readonly cookies: string;
}

/** Addresses of the console's files. */
export interface ConsoleAddresses {
  readonly script: string;
  readonly style: string;
}

/** Facts about the site that all pages share. */
export interface Site {
  /** Path of the area without a slash at its end, such as `/postern`. */
  readonly path: string;
  /** Name of the site for people, on top of every page and in its title. */
  readonly title: string;
  readonly tenant: string;
  readonly logo: string | null;
  readonly icon: string;
  readonly style: string;
  readonly scripts: ScriptAddresses;
  readonly console: ConsoleAddresses;
}
