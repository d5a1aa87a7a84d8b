"""A client of gradio_app.py: `gradio_caller.py ORIGIN KEY FILE` uploads the file, and prints what it has got back."""

import pathlib
import sys

from gradio_client import Client, handle_file

origin, key, given = sys.argv[1:]
client = Client(origin, headers={"X-API-Key": key}, download_files="downloads", verbose=False)
print(client.predict("tea", api_name="/shout"))
back = pathlib.Path(client.predict(handle_file(given), api_name="/back"))
print(f"{back.name}: {back.read_text()}")
