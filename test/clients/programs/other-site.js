/**
 * What a page of another site tries, by name, with the address of a page or a service of ours. Each says what it learned:
 * `refused`; `opaque`, which is a response that can't be read; or what it got.
 */
window.attacks = {
  'an image': (url) => loads('img', { src: url }),
  'an image with credentials': (url) => loads('img', { src: url, crossOrigin: 'use-credentials' }),
  'a script': (url) => loads('script', { src: url }),
  'a module': (url) => loads('script', { src: url, type: 'module', crossOrigin: 'use-credentials' }),
  'a style sheet': (url) => loads('link', { rel: 'stylesheet', href: url }),
  'a video': (url) => loads('video', { src: url, preload: 'auto' }, 'loadeddata'),
  'a preload': (url) =>
    loads('link', { rel: 'preload', as: 'fetch', crossOrigin: 'use-credentials', href: url }),
  'a preload of an image': (url) => loads('link', { rel: 'preload', as: 'image', href: url }),
  'a preload of a module': (url) => loads('link', { rel: 'modulepreload', href: url }),
  'a picture of a style': (url) => styled(`background: url("${url}")`),
  'an import of a style': (url) => styled('', `@import "${url}";`),
  'a frame': (url) => framed('iframe', { src: url }),
  'a frame in a sandbox': (url) => framed('iframe', { src: url, sandbox: 'allow-scripts allow-forms' }),
  'an object': (url) => framed('object', { data: url, type: 'text/html' }),
  'an embed': (url) => framed('embed', { src: url, type: 'text/html' }),
  fetch: (url) => fetched(url, { mode: 'no-cors', credentials: 'include' }),
  'fetch that sends': (url) =>
    fetched(url, { mode: 'no-cors', credentials: 'include', method: 'POST', body: form() }),
  'fetch of text that sends': (url) =>
    fetched(url, { mode: 'no-cors', credentials: 'include', method: 'POST', body: form().toString() }),
  'fetch with CORS': (url) => fetched(url, { mode: 'cors', credentials: 'include' }),
  'fetch with CORS that sends': (url) =>
    fetched(url, { credentials: 'include', method: 'POST', body: form() }),
  'fetch with JSON': (url) =>
    fetched(url, {
      credentials: 'include',
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: '{}',
    }),
  'fetch that deletes': (url) => fetched(url, { credentials: 'include', method: 'DELETE' }),
  'fetch with headers of ours': (url) =>
    fetched(url, { credentials: 'include', headers: { 'X-Auth-Subject': 'ada', Authorization: 'Bearer x' } }),
  'fetch that pretends': (url) =>
    fetched(url, {
      mode: 'no-cors',
      credentials: 'include',
      headers: { Accept: 'text/html', 'Sec-Fetch-Site': 'none' },
    }),
  'fetch that only looks for redirections': (url) =>
    fetched(url, { mode: 'cors', credentials: 'include', redirect: 'manual' }),
  'fetch by a frame without an origin': (url) =>
    fromSandbox(`fetch(${JSON.stringify(url)},
    { mode: 'no-cors', credentials: 'include', method: 'POST', body: 'a=b' })`),
  XMLHttpRequest: (url) =>
    new Promise((resolve) => {
      const request = new XMLHttpRequest();
      request.open('GET', url);
      request.withCredentials = true;
      request.onload = () => resolve(`read ${request.status}`);
      request.onerror = () => resolve('refused');
      request.send();
    }),
  'a beacon': async (url) => {
    navigator.sendBeacon(url, form());
    return 'opaque';
  },
  'a beacon with JSON': async (url) => {
    navigator.sendBeacon(url, new Blob(['{}'], { type: 'application/json' }));
    return 'opaque';
  },
  'a ping': async (url) => {
    const link = element('a', { href: '#', ping: url });
    link.click();
    return 'opaque';
  },
  'a WebSocket': (url) =>
    new Promise((resolve) => {
      const socket = new WebSocket(url.replace('http', 'ws'));
      socket.onopen = () => resolve('opened');
      socket.onerror = () => resolve('refused');
    }),
  'an EventSource': (url) =>
    new Promise((resolve) => {
      const events = new EventSource(url, { withCredentials: true });
      events.onopen = () => resolve('opened');
      events.onerror = () => {
        events.close();
        resolve('refused');
      };
    }),
  'a service worker': (url) =>
    navigator.serviceWorker.register(url).then(
      () => 'registered',
      () => 'refused',
    ),
  'a worker': async (url) => {
    try {
      return new Worker(url) && 'started';
    } catch {
      return 'refused';
    }
  },
  'a script of a worker': (url) =>
    new Promise((resolve) => {
      const code = `try { importScripts(${JSON.stringify(url)}); postMessage('read'); } catch { postMessage('refused'); }`;
      const worker = new Worker(URL.createObjectURL(new Blob([code], { type: 'text/javascript' })));
      worker.onmessage = ({ data }) => resolve(data);
    }),
  'an import': (url) =>
    import(url).then(
      () => 'read',
      () => 'refused',
    ),
  'a font': (url) =>
    new FontFace('stolen', `url("${url}")`).load().then(
      () => 'read',
      () => 'refused',
    ),
  'a prefetch': (url) => loads('link', { rel: 'prefetch', href: url }),
  'a prefetch by a rule': (url) => speculates({ prefetch: [{ urls: [url], eagerness: 'immediate' }] }),
  'a prerender by a rule': (url) => speculates({ prerender: [{ urls: [url], eagerness: 'immediate' }] }),
  'an entry of the history': async (url) => {
    try {
      history.pushState(null, '', url);
      return 'changed';
    } catch {
      return 'refused';
    }
  },
  'a cache of this page': async (url) => {
    const cache = await caches.open('stolen');
    return cache.add(new Request(url, { mode: 'no-cors', credentials: 'include' })).then(
      () => 'kept',
      () => 'refused',
    );
  },
};

/** What a form of the other site sends: someone else's account, and fields of the other forms. */
function form() {
  return new URLSearchParams({
    username: 'mallory',
    password: 'correct horse battery staple',
    current_password: 'correct horse battery staple',
    new_password: 'a password of mallory',
    token: 'x'.repeat(40),
  });
}

function element(name, attributes, parent = document.body) {
  const made = Object.assign(document.createElement(name), attributes);
  for (const [key, value] of Object.entries(attributes)) if (!(key in made)) made.setAttribute(key, value);
  parent.append(made);
  return made;
}

/** Whether an element says that it loaded. */
function loads(name, attributes, event = 'load') {
  return new Promise((resolve) => {
    const made = document.createElement(name);
    made.addEventListener(event, () => resolve('loaded'));
    made.addEventListener('error', () => resolve('refused'));
    setTimeout(() => resolve('opaque'), 5_000);
    Object.assign(made, attributes);
    document.body.append(made);
  });
}

function styled(style, sheet = '') {
  element('style', { textContent: sheet });
  element('p', { style, textContent: 'text' });
  return new Promise((resolve) => setTimeout(() => resolve('opaque'), 500));
}

/** What the page around a frame sees of it. */
function framed(name, attributes) {
  return new Promise((resolve) => {
    const look = () => {
      try {
        const inside = made.contentDocument ?? made.getSVGDocument?.();
        resolve(inside?.body?.textContent ? `read ${inside.body.textContent}` : 'opaque');
      } catch {
        resolve('opaque');
      }
    };
    const made = document.createElement(name);
    made.addEventListener('load', look);
    made.addEventListener('error', () => resolve('refused'));
    setTimeout(look, 2_000);
    Object.assign(made, attributes);
    document.body.append(made);
  });
}

function fetched(url, options) {
  return fetch(url, options).then(
    async (response) =>
      response.type === 'opaque' || response.type === 'opaqueredirect'
        ? 'opaque'
        : `read ${await response.text()}`,
    () => 'refused',
  );
}

function fromSandbox(code) {
  return new Promise((resolve) => {
    const script = `${code}.then(() => 'opaque', () => 'refused').then((text) => parent.postMessage(text, '*'))`;
    const frame = document.createElement('iframe');
    addEventListener('message', ({ data, source }) => source === frame.contentWindow && resolve(data));
    Object.assign(frame, { sandbox: 'allow-scripts', srcdoc: `<script>${script}</` + 'script>' });
    document.body.append(frame);
  });
}

function speculates(rules) {
  element('script', { type: 'speculationrules', textContent: JSON.stringify(rules) });
  return new Promise((resolve) => setTimeout(() => resolve('opaque'), 1_000));
}
