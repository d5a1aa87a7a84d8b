/** How a page of another site leads its visitor to an address of ours, by name: with GET, and with a form that sends. */
window.links = {
  'a link': (url) => element('a', { href: url }).click(),
  'a link that opens a tab': (url) => element('a', { href: url, target: '_blank' }).click(),
  'a link with an opener': (url) => element('a', { href: url, target: '_blank', rel: 'opener' }).click(),
  'a link that says nothing of where it is': (url) => element('a', { href: url, rel: 'noreferrer' }).click(),
  'a script': (url) => location.assign(url),
  'a refresh': (url) => element('meta', { httpEquiv: 'refresh', content: `0; url=${url}` }),
  'a redirection': (url) => location.assign(onwards(url, 302)),
  'a form': (url) => element('form', { action: url }).submit(),
  'a form that opens a tab': (url) => element('form', { action: url, target: '_blank' }).submit(),
  'a window': (url) => open(url),
  'a window that was its own': (url) => {
    open('about:blank').location = url;
  },
};

window.forms = {
  'a form': (url) => form({ action: url }).submit(),
  'a form that opens a tab': (url) => form({ action: url, target: '_blank' }).submit(),
  'a form with an opener': (url) => form({ action: url, target: '_blank', rel: 'opener' }).submit(),
  'a form of several parts': (url) => form({ action: url, enctype: 'multipart/form-data' }).submit(),
  'a form in plain text': (url) => form({ action: url, enctype: 'text/plain' }).submit(),
  'a form that says nothing of where it is': (url) => {
    element('meta', { name: 'referrer', content: 'no-referrer' });
    form({ action: url, rel: 'noreferrer' }).submit();
  },
  'a form that is redirected': (url) => form({ action: onwards(url, 307) }).submit(),
  'a form that is redirected for good': (url) => form({ action: onwards(url, 308) }).submit(),
  'a form for a window': (url) => {
    const opened = open('about:blank', 'opened');
    form({ action: url, target: 'opened' }).submit();
    return opened;
  },
  'a form in a window that was its own': (url) => {
    const opened = open('about:blank');
    opened.document.body.append(form({ action: url }));
    opened.document.forms[0].submit();
  },
  'a form in a sandbox': (url) => {
    form({ action: url, target: '_top' }).setAttribute('id', 'sent');
    const srcdoc =
      `${document.getElementById('sent').outerHTML}<script>document.forms[0].submit()</` + 'script>';
    element('iframe', { sandbox: 'allow-forms allow-scripts allow-top-navigation', srcdoc });
  },
  'a form in a frame': (url) => {
    element('iframe', { name: 'inside' });
    form({ action: url, target: 'inside' }).submit();
  },
};

const onwards = (url, status) => `/on?status=${status}&to=${encodeURIComponent(url)}`;

function element(name, attributes) {
  const made = Object.assign(document.createElement(name), attributes);
  document.body.append(made);
  return made;
}

/** Someone else's account, and what the other forms ask for. */
function form(attributes) {
  const made = element('form', { method: 'post', ...attributes });
  const fields = {
    username: 'mallory',
    password: 'correct horse battery staple',
    current_password: 'correct horse battery staple',
    new_password: 'a password of mallory',
    token: 'x'.repeat(40),
  };
  for (const [name, value] of Object.entries(fields)) {
    const input = document.createElement('input');
    for (const [key, text] of Object.entries({ type: 'hidden', name, value })) input.setAttribute(key, text);
    made.append(input);
  }
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.setAttribute('method', 'post');
  return made;
}
