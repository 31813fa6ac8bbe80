"""A mail server that stores each message in a file: ``python smtp_server.py PORT FOLDER``."""

import asyncio
import sys
from pathlib import Path


async def serve(port: int, folder: Path) -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        def say(line: str) -> None:
            writer.write(f"{line}\r\n".encode())

        say("220 ready")
        while line := (await reader.readline()).decode().strip():
            verb = line[:4].upper()
            if verb == "RCPT" and "refused" in line:
                say("550 no such person")
            elif verb == "DATA":
                say("354 go on")
                text = await reader.readuntil(b"\r\n.\r\n")
                (folder / f"{len(list(folder.iterdir()))}.eml").write_bytes(text[:-3])
                say("250 kept")
            elif verb == "QUIT":
                say("221 bye")
                break
            else:
                say("250 ok")
        writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", port)
    (folder.parent / "ready").touch()
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1]), Path(sys.argv[2])))
