"""Stands in for journald: listens on its socket in this mount namespace and writes the fields of each line that it receives as JSON into a file. Ends when its parent process ends. journal-stub.py FILE"""

import json
import os
import socket
import struct
import sys

parent = os.getppid()
place = "/run/systemd/journal/socket"
os.makedirs(os.path.dirname(place))
with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener, open(sys.argv[1], "w", encoding="utf-8") as file:
    listener.bind(place)
    listener.settimeout(0.5)
    while os.getppid() == parent:
        try:
            rest = listener.recv(1 << 20)
        except TimeoutError:
            continue
        fields = {}
        # NAME, line end, length as 64 bits little-endian, value, line end.
        while rest:
            name, rest = rest.split(b"\n", 1)
            (length,) = struct.unpack("<Q", rest[:8])
            fields[name.decode()] = rest[8:8 + length].decode()
            assert rest[8 + length:9 + length] == b"\n"
            rest = rest[9 + length:]
        file.write(json.dumps(fields) + "\n")
        file.flush()
