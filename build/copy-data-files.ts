import { cpSync, statSync } from 'node:fs';
import { extname, join } from 'node:path';

const data = ['.sql', '.lua', '.css', '.js', '.svg'];
const templates = join('src/forward-auth/templates/');

// The compiler emits code alone; migrations, scripts, templates and browser assets are read as files beside it.
cpSync('src', 'dist', {
  recursive: true,
  filter: (source) =>
    statSync(source).isDirectory() || data.includes(extname(source)) || source.startsWith(templates),
});
