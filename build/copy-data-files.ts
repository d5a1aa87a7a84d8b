import { cpSync, statSync } from 'node:fs';
import { extname } from 'node:path';

const data = ['.sql', '.lua', '.css', '.js', '.svg'];

// The compiler emits code alone; migrations, scripts and what browsers load are read from beside it.
cpSync('src', 'dist', {
  recursive: true,
  filter: (source) => statSync(source).isDirectory() || data.includes(extname(source)),
});
