"""Reads cases from standard input, one a line as JSON, and writes what h11 makes of each."""
import json
import sys

import h11


def described(event):
    fields = [part.decode("latin1") for pair in event.headers.raw_items() for part in pair]
    if isinstance(event, h11.Request):
        start = b" ".join((event.method, event.target, event.http_version)).decode("latin1")
    else:
        start = str(event.status_code)
    return {"start": start, "fields": fields, "body": "", "isWhole": False}


def read(case):
    messages = []
    reading = {"messages": messages, "refusal": None, "isOver": False}
    is_request = case["kind"] == "request"
    role = h11.SERVER if is_request else h11.CLIENT
    connection = h11.Connection(our_role=role, max_incomplete_event_size=65536)
    if not is_request:
        connection.send(h11.Request(method=case["method"], target="/", headers=[("Host", "a")]))
        connection.send(h11.EndOfMessage())
    connection.receive_data(case["text"].encode("latin1"))
    if case["ends"] and not is_request:
        connection.receive_data(b"")
    try:
        while True:
            event = connection.next_event()
            if isinstance(event, (h11.Request, h11.Response)):
                messages.append(described(event))
            elif isinstance(event, h11.Data):
                messages[-1]["body"] += bytes(event.data).decode("latin1")
            elif isinstance(event, h11.EndOfMessage):
                messages[-1]["isWhole"] = True
                if not is_request or messages[-1]["start"].startswith("CONNECT "):
                    reading["isOver"] = True
                    break
                connection.send(h11.Response(status_code=200, headers=[("Content-Length", "0")]))
                connection.send(h11.EndOfMessage())
                # It closes after every request of HTTP/1.0.
                if connection.our_state is not h11.DONE:
                    reading["isOver"] = True
                    break
                connection.start_next_cycle()
            elif event is h11.PAUSED:
                reading["isOver"] = True
                break
            elif event is h11.NEED_DATA or isinstance(event, h11.ConnectionClosed):
                break
    except h11.RemoteProtocolError as error:
        reading["refusal"] = str(error)
    return reading


for line in sys.stdin:
    print(json.dumps(read(json.loads(line))), flush=True)
