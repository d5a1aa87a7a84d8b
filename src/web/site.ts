/** Addresses of the scripts. Each improves a page that works without it. */
export interface ScriptAddresses {
  /** Lets people see the password that they type. */
  readonly password: string;
  /** Moves a token from the address into its field. */
  readonly token: string;
  /** Copies a text, such as a request id. */
  readonly copy: string;
  /** Gives the page that a form led to an address that can be opened. */
  readonly address: string;
  /** Loads a page that says who is signed in again, when someone goes back to it. */
  readonly fresh: string;
  /** Carries the fragment of the page that was wanted through the sign-in. */
  readonly fragment: string;
  /** Tells people that their browser blocks cookies. */
  readonly cookies: string;
}

/** Addresses of what the console loads. */
export interface ConsoleAddresses {
  readonly script: string;
  readonly style: string;
}

/** What all pages of one Postern have in common. */
export interface Site {
  /** Path of the area, such as `/postern`: no slash at its end. */
  readonly path: string;
  /** What people know the place by: on top of every page and in its title. */
  readonly title: string;
  readonly tenant: string;
  /** Address of the logo. */
  readonly logo: string | null;
  /** Address of the icon of tabs and bookmarks. */
  readonly icon: string;
  /** Address of the style sheet. */
  readonly style: string;
  readonly scripts: ScriptAddresses;
  readonly console: ConsoleAddresses;
}
